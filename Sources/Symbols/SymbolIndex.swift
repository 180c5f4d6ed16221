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

  private struct Entry {
    var start: UInt64
    var size: UInt32
    var name: UInt32
    /// The nearest earlier entry that reaches further than this one; itself if there is none.
    var enclosing: UInt32
    var isProcedureLinkage: Bool
  }

  /// A symbol without a size reaches to the next symbol or its section's end, and no further than this: behind it may
  /// stand functions whose names were stripped.
  package static let reachWithoutSize: UInt64 = 4096

  /// A further name of the function that starts there.
  private struct Alias {
    var start: UInt64
    var name: UInt32
  }

  private static let mostAliases = 8

  private let entries: [Entry]
  /// By address.
  private let aliases: [Alias]
  private let strings: [UInt8]
  package let coverage: Coverage
  /// A table was left out because it is damaged or too large.
  package let isIncomplete: Bool

  package var count: Int { entries.count }
  package var byteCount: Int {
    entries.count * MemoryLayout<Entry>.stride + aliases.count * MemoryLayout<Alias>.stride + strings.count
  }

  /// Reads the symbol tables of an opened regular file; the descriptor stays the caller's. A file without a full table
  /// may have its symbols in a separate file, which `separate` opens, or compressed in itself.
  package init(
    descriptor: Int32, separate: () -> FileDescriptor? = { nil }
  ) throws(SymbolFailure) {
    var (collection, coverage, failure) = try Self.collection(from: descriptor, separate)
    guard !collection.candidates.isEmpty else { throw failure ?? .noSymbols }
    self.coverage = coverage
    isIncomplete = failure != nil
    (entries, aliases) = Self.arranged(&collection)
    strings = collection.strings
  }

  /// The file and what libelf keeps of it are gone before the symbols are sorted.
  private static func collection(
    from descriptor: Int32, _ separate: () -> FileDescriptor?
  ) throws(SymbolFailure) -> (SymbolCollection, Coverage, SymbolFailure?) {
    let file = try ElfFile(descriptor: descriptor)
    var collection = SymbolCollection()
    var failure: SymbolFailure?
    collection.reserveStrings(of: file)
    do throws(SymbolFailure) {
      try collection.addTable(ofType: SHT_SYMTAB, from: file)
      if collection.candidates.isEmpty, let other = separate() {
        try collection.addTable(ofType: SHT_SYMTAB, from: ElfFile(descriptor: other.rawValue))
      }
      if collection.candidates.isEmpty, let other = try file.miniDebugInformation() {
        try collection.addTable(ofType: SHT_SYMTAB, from: ElfFile(descriptor: other.rawValue))
      }
    } catch { failure = error }
    let coverage = collection.candidates.isEmpty ? Coverage.exported : .full
    do throws(SymbolFailure) {
      try collection.addDynamicTable(from: file)
      if file.sections.isEmpty { try collection.addDynamicSegment(from: file) }
    } catch { failure = error }
    return (collection, coverage, failure)
  }

  /// The innermost function that covers an address.
  package func match(_ address: UInt64) -> Match? {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].start <= address { low = middle + 1 } else { high = middle }
    }
    guard low > 0 else { return nil }
    var index = low - 1
    // Functions hardly nest; a table made to nest thousands deep gets no name.
    for _ in 0..<64 {
      let entry = entries[index]
      if address - entry.start < UInt64(entry.size) {
        return Match(rawName: name(of: entry), start: entry.start, aliases: aliases(at: entry.start))
      }
      if Int(entry.enclosing) == index { return nil }
      index = Int(entry.enclosing)
    }
    return nil
  }

  private func name(of entry: Entry) -> ByteString {
    let name = symbolName(at: entry.name, in: strings)
    return ByteString(entry.isProcedureLinkage ? name + Array("@plt".utf8) : name)
  }

  private func aliases(at start: UInt64) -> [ByteString] {
    var low = 0
    var high = aliases.count
    while low < high {
      let middle = (low + high) / 2
      if aliases[middle].start < start { low = middle + 1 } else { high = middle }
    }
    return aliases[low...].prefix { $0.start == start }.prefix(Self.mostAliases).map {
      ByteString(symbolName(at: $0.name, in: strings))
    }
  }

  /// Sorted by address, the best name of each apart from its others. In place: a large program has a million.
  private static func arranged(_ collection: inout SymbolCollection) -> (entries: [Entry], aliases: [Alias]) {
    var symbols = collection.takeCandidates()
    symbols.sort { ($0.address, $0.rank) < ($1.address, $1.rank) }
    var aliases: [Alias] = []
    var kept = 0
    for position in symbols.indices {
      let candidate = symbols[position]
      guard kept > 0, symbols[kept - 1].address == candidate.address else {
        symbols[kept] = candidate
        kept += 1
        continue
      }
      let best = symbols[kept - 1]
      let isBetter =
        best.rank == candidate.rank && reads(candidate.name, betterThan: best.name, in: collection.strings)
      if isBetter { symbols[kept - 1] = candidate }
      let other = isBetter ? best : candidate
      // A label without a type or size is a place, no other name of the function.
      if other.statesEnd && other.rank < 8 { aliases.append(Alias(start: other.address, name: other.name)) }
    }
    symbols.removeSubrange(kept...)
    return (entries(from: symbols), aliases)
  }

  /// Of several names for one place: no leading underscore, then shorter, then byte order.
  private static func reads(_ left: UInt32, betterThan right: UInt32, in strings: [UInt8]) -> Bool {
    let left = symbolName(at: left, in: strings)
    let right = symbolName(at: right, in: strings)
    let underscore = UInt8(ascii: "_")
    if (left.first == underscore) != (right.first == underscore) { return right.first == underscore }
    if left.count != right.count { return left.count < right.count }
    return left.lexicographicallyPrecedes(right)
  }

  private static func entries(from candidates: [SymbolCandidate]) -> [Entry] {
    var entries: [Entry] = []
    entries.reserveCapacity(candidates.count)
    // Entries that reach beyond every later one so far, outermost first, with the address behind their last byte.
    var open: [(index: UInt32, end: UInt64)] = []
    var furthestStatedEnd: UInt64 = 0
    for (position, candidate) in candidates.enumerated() {
      // A label without a size inside a function is a place in it, not a function.
      if !candidate.statesEnd && candidate.address < furthestStatedEnd { continue }
      let next = position + 1 < candidates.count ? candidates[position + 1].address : UInt64.max
      let reach = min(reachWithoutSize, candidate.end &- candidate.address)
      let end = candidate.statesEnd ? candidate.end : min(next, candidate.address &+ reach)
      if candidate.statesEnd { furthestStatedEnd = max(furthestStatedEnd, end) }
      let index = UInt32(entries.count)
      while let last = open.last, last.end <= end { open.removeLast() }
      entries.append(
        Entry(
          start: candidate.address, size: UInt32(clamping: end &- candidate.address), name: candidate.name,
          enclosing: open.last?.index ?? index, isProcedureLinkage: candidate.isProcedureLinkage))
      open.append((index, end))
    }
    return entries
  }
}
