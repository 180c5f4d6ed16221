// The functions of one module, sorted by address: from an address to the name that covers it.

internal import CElfutils
internal import Glibc
package import Linux
package import StallCore

/// libelf finds symbols by walking their table (3 ms a look-up in a large program); sorting once is cheaper from the
/// fifth look-up on.
package struct SymbolIndex: Sendable {
  package struct Match: Hashable, Sendable {
    /// The name as it stands in the symbol table; `function@plt` for a linkage table's jump.
    package var rawName: ByteString
    /// The symbol's address, in the module's own terms.
    package var start: UInt64
    /// Further names of the same function; the first few, in the table's order.
    package var aliases: [ByteString] = []
  }

  /// How many of the module's functions can have a name.
  package enum Coverage: Sendable, Equatable {
    /// There is a full symbol table.
    case full
    /// Stripped: only what the module exports or imports.
    case exported
  }

  /// A symbol without a size reaches to the next symbol or its section's end, and no further than this: behind it may
  /// stand functions whose names were stripped.
  package static let reachWithoutSize: UInt64 = 4096

  private static let mostAliases = 8
  /// Of one place; a table made to have more gets the first.
  private static let mostNames = 64

  /// By address, the best name of each first.
  private let entries: [SymbolEntry]
  private let strings: SymbolStrings
  package let coverage: Coverage
  /// A table was left out because it is damaged or too large.
  package let isIncomplete: Bool

  package var count: Int { entries.count }
  package var byteCount: Int { entries.count * MemoryLayout<SymbolEntry>.stride }

  /// Reads the symbol tables of an opened regular file; the descriptor stays the caller's. A file without a full table
  /// may have its symbols in a separate file, which `separate` opens, or compressed in itself.
  package init(
    descriptor: Int32, separate: () -> FileDescriptor? = { nil }
  ) throws(SymbolFailure) {
    var (collection, coverage, failure) = try Self.collection(from: descriptor, separate)
    guard !collection.entries.isEmpty else { throw failure ?? .noSymbols }
    self.coverage = coverage
    isIncomplete = failure != nil
    strings = collection.strings
    entries = Self.arranged(collection.takeEntries())
  }

  /// The file and what libelf keeps of it are gone before the symbols are sorted.
  private static func collection(
    from descriptor: Int32, _ separate: () -> FileDescriptor?
  ) throws(SymbolFailure) -> (SymbolCollection, Coverage, SymbolFailure?) {
    let opened = try duplicate(descriptor)
    let file = try ElfFile(descriptor: opened.rawDescriptor)
    var collection = SymbolCollection()
    var failure: SymbolFailure?
    do throws(SymbolFailure) {
      try collection.addFullTable(from: file, opened)
      if collection.entries.isEmpty, let other = separate() {
        try collection.addFullTable(ofFile: SharedFile(other))
      }
      if collection.entries.isEmpty, let other = try file.miniDebugInformation() {
        try collection.addFullTable(ofFile: SharedFile(other))
      }
    } catch { failure = error }
    let coverage = collection.entries.isEmpty ? Coverage.exported : .full
    do throws(SymbolFailure) {
      try collection.addDynamicTable(from: file, opened)
      if file.sections.isEmpty { try collection.addDynamicSegment(from: file, opened) }
    } catch { failure = error }
    return (collection, coverage, failure)
  }

  private static func duplicate(_ descriptor: Int32) throws(SymbolFailure) -> SharedFile {
    do throws(Errno) { return SharedFile(try .duplicate(descriptor)) } catch { throw .unreadable }
  }

  /// The innermost function that covers an address.
  package func match(_ address: UInt64) -> Match? {
    let behind = firstPlace { $0.start > address }
    guard behind > 0 else { return nil }
    var index = firstPlace { $0.start >= entries[behind - 1].start }
    // Functions hardly nest; a table made to nest thousands deep gets no name.
    for _ in 0..<64 {
      let entry = entries[index]
      if address - entry.start < UInt64(entry.size) { return match(firstOfPlace: index) }
      if Int(entry.enclosing) == index { return nil }
      index = Int(entry.enclosing)
    }
    return nil
  }

  private func match(firstOfPlace index: Int) -> Match {
    let first = entries[index]
    let place = entries[index...].prefix(Self.mostNames).prefix { $0.start == first.start }
    var best = name(of: first)
    var aliases: [ByteString] = []
    for other in place.dropFirst() {
      let name = name(of: other)
      if other.rank == first.rank && Self.reads(name, betterThan: best) {
        aliases.append(best)
        best = name
      } else {
        aliases.append(name)
      }
    }
    return Match(rawName: best, start: first.start, aliases: Array(aliases.prefix(Self.mostAliases)))
  }

  /// Entries are sorted: those that fulfil the condition come last.
  private func firstPlace(where condition: (SymbolEntry) -> Bool) -> Int {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if condition(entries[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }

  private func name(of entry: SymbolEntry) -> ByteString {
    let name = strings.name(at: entry.name)
    return ByteString(entry.rank == .procedureLinkage ? name + Array("@plt".utf8) : name)
  }

  /// Of several names for one place: no leading underscore, then shorter, then byte order.
  private static func reads(_ left: ByteString, betterThan right: ByteString) -> Bool {
    let underscore = UInt8(ascii: "_")
    let (left, right) = (left.bytes, right.bytes)
    if (left.first == underscore) != (right.first == underscore) { return right.first == underscore }
    if left.count != right.count { return left.count < right.count }
    return left.lexicographicallyPrecedes(right)
  }

  /// Sorted by address and rank, without what is neither the name of a place nor an alias. In place: a large program
  /// has a million.
  private static func arranged(_ symbols: consuming [SymbolEntry]) -> [SymbolEntry] {
    symbols.sortByOrder()
    // Places that reach beyond every later one so far, outermost first, with the address behind their last byte.
    var open: [(index: UInt32, end: UInt64)] = []
    var furthestStatedEnd: UInt64 = 0
    var kept = 0
    var next = 0
    while next < symbols.count {
      let position = next
      next = endOfPlace(at: position, in: symbols)
      var first = symbols[position]
      let statesEnd = !first.rank.contains(.withoutSize)
      // A label without a size inside a function is a place in it, not a function.
      if !statesEnd && first.start < furthestStatedEnd { continue }
      let following = next < symbols.count ? symbols[next].start : .max
      first.size = size(ofPlace: symbols[position..<next], before: following)
      let end = first.start + UInt64(first.size)
      if statesEnd { furthestStatedEnd = max(furthestStatedEnd, end) }
      while let last = open.last, last.end <= end { open.removeLast() }
      first.enclosing = open.last?.index ?? UInt32(kept)
      open.append((UInt32(kept), end))
      symbols[kept] = first
      kept += 1
      // A label without a type or size is a place, no other name of the function.
      for other in position + 1..<next where symbols[other].rank.isDisjoint(with: [.withoutSize, .label]) {
        symbols[kept] = symbols[other]
        kept += 1
      }
    }
    symbols.removeSubrange(kept...)
    return symbols
  }

  private static func endOfPlace(at position: Int, in symbols: [SymbolEntry]) -> Int {
    var end = position + 1
    while end < symbols.count, symbols[end].start == symbols[position].start { end += 1 }
    return end
  }

  /// The largest that one of the best names states.
  private static func size(ofPlace symbols: ArraySlice<SymbolEntry>, before next: UInt64) -> UInt32 {
    let first = symbols[symbols.startIndex]
    if first.rank.contains(.withoutSize) { return min(first.size, UInt32(clamping: next - first.start)) }
    return symbols.prefix { $0.rank == first.rank }.reduce(0) { max($0, $1.size) }
  }
}
