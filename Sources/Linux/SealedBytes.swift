// Bytes in memory that several processes can hold and none can change.

internal import CLinux
internal import Glibc

/// An anonymous file (memfd_create(2)), sealed by whoever filled it. Handed on unread: its bytes cost nothing until
/// somebody asks for them.
package final class SealedBytes: Sendable {
  package let descriptor: FileDescriptor

  /// Takes a received file; only `bytes(limit:)` looks at it, and with care.
  package init(owning descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

  /// Copies the bytes into a new sealed file.
  package init(copying bytes: RawSpan) throws(Errno) {
    descriptor = FileDescriptor(owning: try systemCall { unsafe clinux_memfd_create("stallwatch") })
    let raw = descriptor.rawValue
    var rest = bytes
    while !rest.isEmpty {
      let count = try systemCall {
        unsafe rest.withUnsafeBytes { unsafe write(raw, $0.baseAddress, $0.count) }
      }
      rest = rest.extracting(droppingFirst: count)
    }
    _ = try systemCall { clinux_memfd_seal(raw) }
  }

  package func bytes(limit: Int) throws(Errno) -> [UInt8] { try descriptor.readAll(limit: limit) }
}
