// A connection between two of our processes that keeps messages apart and can carry an open file.

internal import CLinux
internal import Glibc

/// One end of a SOCK_SEQPACKET pair.
package struct MessageSocket: ~Copyable, Sendable {
  package let descriptor: FileDescriptor

  package init(owning descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

  package static func makePair() throws(Errno) -> MessageSocketPair {
    var ends: (Int32, Int32) = (-1, -1)
    _ = try systemCall {
      unsafe withUnsafeMutablePointer(to: &ends) {
        unsafe $0.withMemoryRebound(to: Int32.self, capacity: 2) { unsafe clinux_socketpair($0) }
      }
    }
    return MessageSocketPair(
      ours: MessageSocket(owning: FileDescriptor(owning: ends.0)), theirs: FileDescriptor(owning: ends.1))
  }

  /// Sends one message, with at most one open file beside it (−1: none).
  package func send(_ bytes: [UInt8], descriptor passed: Int32 = -1) throws(Errno) {
    _ = try systemCall {
      unsafe bytes.withUnsafeBytes {
        unsafe clinux_send_message(descriptor.rawValue, $0.baseAddress, $0.count, passed)
      }
    }
  }

  /// The next message, at most `capacity` bytes of it; empty when the other end is closed.
  package func receive(capacity: Int) throws(Errno) -> ReceivedMessage {
    var passed: Int32 = -1
    let bytes = try unsafe [UInt8](upTo: capacity) {
      unsafe clinux_receive_message(descriptor.rawValue, $0.baseAddress, $0.count, &passed)
    }
    return ReceivedMessage(bytes: bytes, descriptor: passed < 0 ? nil : FileDescriptor(owning: passed))
  }

  /// Waits until a message (or the end) is there; false when the moment came first.
  package func waitReadable(untilNanoseconds moment: Int64) throws(Errno) -> Bool {
    try systemCall {
      clinux_wait_readable(descriptor.rawValue, max(0, moment &- Clock.monotonicNanoseconds))
    } > 0
  }
}

package struct MessageSocketPair: ~Copyable {
  package let ours: MessageSocket
  package let theirs: FileDescriptor

  /// Keeps our end; the other one is closed here.
  package consuming func takeOurs() -> MessageSocket { ours }
}

package struct ReceivedMessage: ~Copyable {
  package let bytes: [UInt8]
  package let descriptor: FileDescriptor?

  /// The file beside the message.
  package consuming func takeFile() -> SharedFile? {
    guard let descriptor else { return nil }
    return SharedFile(descriptor)
  }
}
