// An open file, closed when its value goes away.

internal import CLinux
internal import Glibc

/// Owns a descriptor. Closing never traps: what close(2) answers is of no use to anyone who only reads.
package struct FileDescriptor: ~Copyable, Sendable {
  package let rawValue: Int32

  package init(owning rawValue: Int32) { self.rawValue = rawValue }

  deinit { _ = close(rawValue) }

  /// Opens for reading, close-on-exec. Further `flags` as in open(2).
  package static func open(_ path: String, flags: Int32 = 0) throws(Errno) -> FileDescriptor {
    FileDescriptor(
      owning: try systemCall { unsafe path.withCString { unsafe clinux_open($0, O_RDONLY | flags) } })
  }

  /// Resolves a name and touches nothing, open(2), `O_PATH`: what it names can be neither read nor written through this.
  package static func resolve(_ path: [UInt8]) throws(Errno) -> FileDescriptor {
    let name = path + [0]
    return FileDescriptor(
      owning: try systemCall {
        unsafe name.withUnsafeBytes {
          unsafe clinux_open_path($0.assumingMemoryBound(to: CChar.self).baseAddress!)
        }
      })
  }

  /// Creates or empties a file for writing at its end, close-on-exec. Waits for nobody: a named pipe that nobody reads
  /// fails with `noReader` (fifo(7)).
  package static func create(_ path: String, keepsContents: Bool = false) throws(Errno) -> FileDescriptor {
    let flags = O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | (keepsContents ? 0 : O_TRUNC)
    return FileDescriptor(
      owning: try systemCall { unsafe path.withCString { unsafe clinux_open($0, flags) } })
  }

  /// A second descriptor for the same open file, close-on-exec.
  package static func duplicate(_ descriptor: Int32) throws(Errno) -> FileDescriptor {
    FileDescriptor(owning: try systemCall { clinux_duplicate(descriptor) })
  }

  /// Gives up ownership.
  package consuming func release() -> Int32 {
    let raw = rawValue
    discard self
    return raw
  }

  /// Reads at an offset; 0 at the end of the file.
  package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
    try systemCall { unsafe pread(rawValue, buffer.baseAddress, buffer.count, Int(offset)) }
  }

  /// Reads a pseudo file from its start, at most `limit` bytes: `/proc` files grow while they are read, and a hostile
  /// process can make some of them as large as it likes.
  package func readAll(from start: Int = 0, limit: Int) throws(Errno) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < limit {
      let offset = start + bytes.count
      let chunk = try unsafe [UInt8](upTo: min(limit - bytes.count, 65_536)) {
        unsafe pread(rawValue, $0.baseAddress, $0.count, offset)
      }
      if chunk.isEmpty { break }
      if bytes.isEmpty { bytes = chunk } else { bytes += chunk }
    }
    return bytes
  }

  /// Writes all bytes; a short write is continued.
  package func write(_ bytes: [UInt8]) throws(Errno) {
    try writeAll(bytes, to: rawValue)
  }
}

/// Writes all bytes to a descriptor that somebody else owns, and waits for its reader also where whoever shares it has
/// made it non-blocking. `done` counts what was written, also when the rest fails.
package func writeAll(_ bytes: [UInt8], to descriptor: Int32, done: inout Int) throws(Errno) {
  while done < bytes.count {
    let start = done
    do throws(Errno) {
      done += try systemCall { () -> Int in
        unsafe bytes.withUnsafeBytes {
          unsafe Glibc.write(descriptor, $0.baseAddress! + start, bytes.count - start)
        }
      }
    } catch {
      guard error == .wouldBlock else { throw error }
      var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      _ = try systemCall { unsafe poll(&entry, 1, -1) }
    }
  }
}

package func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws(Errno) {
  var done = 0
  try writeAll(bytes, to: descriptor, done: &done)
}
