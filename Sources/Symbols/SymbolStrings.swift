// The names of symbol tables, left in their files until one is asked for.

internal import Glibc
internal import Linux

/// Numbers the bytes of several string tables through. Copying the tables of a large program would take longer than
/// everything else that a few look-ups need.
struct SymbolStrings: Sendable {
  private struct Table {
    var file: SharedFile
    /// The number of its first byte.
    var base: Int
    var offset: UInt64
    var count: Int
  }

  /// Numbers are 32 bits wide.
  static let maximumBytes = 512 << 20
  /// A hostile table can let every symbol name the same megabytes.
  private static let maximumNameBytes = 16_384
  private static let pieceBytes = 256

  private var tables: [Table] = []
  private(set) var byteCount = 0

  /// Answers the number of the table's first byte.
  mutating func add(_ file: SharedFile, offset: UInt64, count: UInt64) throws(SymbolFailure) -> Int {
    guard count < UInt64(Self.maximumBytes - byteCount) else { throw .tooLarge }
    let base = byteCount
    tables.append(Table(file: file, base: base, offset: offset, count: Int(count)))
    byteCount += Int(count)
    return base
  }

  /// The string from there to its NUL, or to the end of its table.
  func name(at number: UInt32) -> [UInt8] {
    guard let table = tables.last(where: { $0.base <= Int(number) }) else { return [] }
    let start = Int(number) - table.base
    let limit = min(Self.maximumNameBytes, table.count - start)
    var name: [UInt8] = []
    while name.count < limit {
      let piece = Self.read(
        table.file.rawDescriptor, at: table.offset &+ UInt64(start + name.count),
        count: min(Self.pieceBytes, limit - name.count))
      let text = piece.prefix { $0 != 0 }
      name += text
      if text.count < Self.pieceBytes { break }
    }
    return name
  }

  private static func read(_ descriptor: Int32, at offset: UInt64, count: Int) -> [UInt8] {
    guard let offset = Int(exactly: offset) else { return [] }
    return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      unsafe filled = max(0, pread(descriptor, buffer.baseAddress, count, offset))
    }
  }
}
