// The contents of a file, read piece by piece through a small cache and never mapped.

internal import Synchronization

/// Random reads from a file.
///
/// Not mapped, because a mapped file that shrinks raises SIGBUS in whoever reads it. At most `pageSize × pageCount`
/// bytes (1 MB) are kept.
package final class FilePages: Sendable {
  private static let pageSize: UInt64 = 16_384
  /// A prime, so that tables whose parts lie a power of two apart do not push each other out.
  private static let pageCount: UInt64 = 61

  private struct Page: Sendable {
    var number: UInt64
    var bytes: [UInt8]
  }

  private let file: FileDescriptor?
  private let slots: Mutex<[Page?]>

  package init(file: consuming FileDescriptor) {
    self.file = consume file
    slots = Mutex(Array(repeating: nil, count: Int(FilePages.pageCount)))
  }

  /// Contents that are no file, such as a copy of the vDSO; only the first `pageSize × pageCount` bytes count.
  package init(contents: [UInt8]) {
    file = nil
    var pages: [Page?] = Array(repeating: nil, count: Int(FilePages.pageCount))
    for slot in pages.indices {
      let piece = contents.dropFirst(slot * Int(FilePages.pageSize)).prefix(Int(FilePages.pageSize))
      pages[slot] = Page(number: UInt64(slot), bytes: Array(piece))
    }
    slots = Mutex(pages)
  }

  /// The open file, for whoever reads more of it; nil if there is none.
  package var rawDescriptor: Int32? {
    switch file {
    case .some(let file): file.rawValue
    case .none: nil
    }
  }

  /// The little-endian word at an offset. As in a mapping, zeros follow the file's last byte; nil if not even the
  /// word's first byte is in the file.
  package func word(at offset: UInt64) -> UInt64? {
    guard offset < UInt64(Int64.max) - 8 else { return nil }
    return slots.withLock { slots in
      let page = self.page(offset / FilePages.pageSize, in: &slots)
      let start = Int(offset % FilePages.pageSize)
      guard start < page.count else { return nil }
      if start + 8 <= page.count {
        return unsafe page.withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: start, as: UInt64.self) }
      }
      var bytes = Array(page[start...])
      if page.count == Int(FilePages.pageSize) {
        bytes += self.page(offset / FilePages.pageSize + 1, in: &slots).prefix(8 - bytes.count)
      }
      return bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
  }

  /// `count` bytes from an offset; nil if the file does not hold them all. At most 1 MB at a time.
  package func bytes(at offset: UInt64, count: Int) -> [UInt8]? {
    guard count >= 0, count <= 1 << 20, offset < UInt64(Int64.max) - UInt64(count) else { return nil }
    return slots.withLock { slots in
      var result: [UInt8] = []
      while result.count < count {
        let position = offset + UInt64(result.count)
        let page = self.page(position / FilePages.pageSize, in: &slots)
        let piece = page.dropFirst(Int(position % FilePages.pageSize)).prefix(count - result.count)
        if piece.isEmpty { return nil }
        result += piece
      }
      return result
    }
  }

  /// One page; shorter at the file's end, empty beyond it or where it cannot be read.
  private func page(_ number: UInt64, in slots: inout [Page?]) -> [UInt8] {
    let slot = Int(number % FilePages.pageCount)
    if let page = slots[slot], page.number == number { return page.bytes }
    switch file {
    case .none: return []
    case .some(let file):
      let bytes = FilePages.readPage(number, of: file)
      slots[slot] = Page(number: number, bytes: bytes)
      return bytes
    }
  }

  private static func readPage(_ number: UInt64, of file: borrowing FileDescriptor) -> [UInt8] {
    let size = Int(FilePages.pageSize)
    var bytes = [UInt8](repeating: 0, count: size)
    var count = 0
    while count < size {
      let offset = Int64(number) * Int64(size) + Int64(count)
      let read = unsafe bytes.withUnsafeMutableBytes {
        unsafe try? file.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[count...]), at: offset)
      }
      guard let read, read > 0 else { break }
      count += read
    }
    return Array(bytes[..<count])
  }
}
