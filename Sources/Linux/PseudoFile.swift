// A `/proc` file that is held open and read again and again.

internal import Glibc

/// Reads from the start each time. The content is made by the kernel at the moment of the read; all of it must fit.
package struct PseudoFile: ~Copyable, Sendable {
  private let descriptor: FileDescriptor

  package init(_ path: String) throws(Errno) { descriptor = try FileDescriptor.open(path) }

  /// Fills the buffer and returns the number of bytes. An empty answer means that the task is gone.
  package func read(into buffer: inout [UInt8]) throws(Errno) -> Int {
    let raw = descriptor.rawValue
    let count = try systemCall { () -> Int in
      unsafe buffer.withUnsafeMutableBytes { unsafe pread(raw, $0.baseAddress, $0.count, 0) }
    }
    if count == 0 { throw .noSuchProcess }
    return count
  }

  /// Room for every per-thread file that is read in a look.
  package static func makeBuffer() -> [UInt8] { [UInt8](repeating: 0, count: 8192) }
}

/// Reads a small `/proc` file once.
package func readPseudoFile(_ path: String, limit: Int = 65_536) throws(Errno) -> [UInt8] {
  let bytes = try FileDescriptor.open(path).readAll(limit: limit)
  if bytes.isEmpty { throw .noSuchProcess }
  return bytes
}
