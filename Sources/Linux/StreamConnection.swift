// A connection to another program that never waits longer than it is told to.

internal import CLinux
internal import Glibc

package struct StreamConnection: ~Copyable {
  private let descriptor: FileDescriptor

  /// To an IPv4 or IPv6 address in numbers.
  package init(address: String, port: UInt16) throws(Errno) {
    descriptor = FileDescriptor(
      owning: try systemCall { unsafe address.withCString { unsafe clinux_connect_host($0, port) } })
  }

  /// To a socket in the file system.
  package init(path: String) throws(Errno) {
    descriptor = FileDescriptor(
      owning: try systemCall { unsafe path.withCString { unsafe clinux_connect_path($0) } })
  }

  /// False: it was not there in time.
  package func waitUntilConnected(for nanoseconds: Int64) throws(Errno) -> Bool {
    guard try wait(for: Int16(POLLOUT), nanoseconds) else { return false }
    let error = clinux_socket_error(descriptor.rawValue)
    if error != 0 { throw Errno(error) }
    return true
  }

  /// What is sent is short, and the kernel keeps it.
  package func send(_ bytes: [UInt8]) throws(Errno) {
    let raw = descriptor.rawValue
    let count = try systemCall {
      unsafe bytes.withUnsafeBytes {
        unsafe clinux_send(raw, $0.baseAddress, $0.count)
      }
    }
    if count < bytes.count { throw .wouldBlock }
  }

  /// Nothing more will be sent: the other side reads an end.
  package func finishSending() { _ = shutdown(descriptor.rawValue, Int32(SHUT_WR)) }

  /// The number of bytes, 0 at the end of the stream; nil: nothing came in time.
  package func receive(into buffer: inout [UInt8], for nanoseconds: Int64) throws(Errno) -> Int? {
    guard try wait(for: Int16(POLLIN), nanoseconds) else { return nil }
    let raw = descriptor.rawValue
    return try systemCall {
      unsafe buffer.withUnsafeMutableBytes { unsafe recv(raw, $0.baseAddress, $0.count, 0) }
    }
  }

  private func wait(for events: Int16, _ nanoseconds: Int64) throws(Errno) -> Bool {
    var entry = pollfd(fd: descriptor.rawValue, events: events, revents: 0)
    return try systemCall { unsafe clinux_poll_for(&entry, 1, max(0, nanoseconds)) } > 0
  }
}
