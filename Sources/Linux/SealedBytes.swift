// Bytes in memory that several processes can hold and none can change.

internal import CLinux
internal import Glibc

/// An anonymous file (memfd_create(2)), sealed by whoever filled it. Handed on unread: its bytes cost nothing until
/// somebody asks for them.
package final class SealedBytes: Sendable {
  private let file: SharedFile

  /// Takes a received file; only `bytes(limit:)` looks at it, and with care.
  package init(_ file: SharedFile) { self.file = file }

  /// Copies bytes into a new sealed file.
  package static func copy(_ bytes: RawSpan) throws(Errno) -> SharedFile {
    var builder = try Builder()
    try builder.append(bytes)
    return try builder.seal()
  }

  package func bytes(from start: Int = 0, limit: Int) throws(Errno) -> [UInt8] {
    try file.descriptor.readAll(from: start, limit: limit)
  }

  package var count: Int {
    var status = stat()
    return unsafe fstat(rawDescriptor, &status) == 0 ? Int(status.st_size) : 0
  }

  /// To hand it to another process.
  package var rawDescriptor: Int32 { file.rawDescriptor }
}

extension SealedBytes {
  /// Bytes that come in pieces, one behind the other or each with its place; what lies between is zero and takes no room.
  package struct Builder: ~Copyable {
    private let descriptor: FileDescriptor
    /// Of the pieces that came one behind the other.
    package private(set) var count = 0

    package init() throws(Errno) {
      descriptor = FileDescriptor(owning: try systemCall { unsafe clinux_memfd_create("stallwatch") })
    }

    /// Of the file as it is being filled.
    package var rawDescriptor: Int32 { descriptor.rawValue }

    package mutating func append(_ bytes: RawSpan) throws(Errno) {
      let raw = descriptor.rawValue
      var rest = bytes
      while !rest.isEmpty {
        let written = try systemCall {
          unsafe rest.withUnsafeBytes { unsafe Glibc.write(raw, $0.baseAddress, $0.count) }
        }
        rest = rest.extracting(droppingFirst: written)
        count += written
      }
    }

    /// False if it could not be written whole.
    package func write(_ bytes: ArraySlice<UInt8>, at offset: UInt64) -> Bool {
      guard let offset = Int(exactly: offset) else { return false }
      let count = try? systemCall {
        unsafe bytes.withUnsafeBytes { unsafe pwrite(descriptor.rawValue, $0.baseAddress, $0.count, offset) }
      }
      return count == bytes.count
    }

    package consuming func seal() throws(Errno) -> SharedFile {
      _ = try systemCall { clinux_memfd_seal(descriptor.rawValue) }
      return SharedFile(descriptor)
    }
  }
}
