// The function symbols of symbol tables, collected for an index.

internal import CElfutils
internal import Glibc
internal import Linux

/// A function symbol in an index. Small: a large program has a million.
struct SymbolEntry {
  /// The address and, in the lowest byte, the rank: what symbols are sorted by.
  let order: UInt64
  /// As the table states it, cut at the end of the symbol's section; where it states none, how far the symbol may reach.
  var size: UInt32
  /// The number of its name in the index's strings.
  let name: UInt32
  /// The nearest earlier entry that reaches further than this one; itself if there is none.
  var enclosing: UInt32 = 0

  var start: UInt64 { order >> 8 }
  var rank: Rank { Rank(rawValue: UInt8(truncatingIfNeeded: order)) }

  /// Of the names of one address the lowest wins.
  struct Rank: OptionSet {
    let rawValue: UInt8

    static let weak = Rank(rawValue: 1)
    static let local = Rank(rawValue: 2)
    static let withoutSize = Rank(rawValue: 4)
    /// Without a type: a last resort.
    static let label = Rank(rawValue: 8)
    /// A jump to an imported function rather than the function.
    static let procedureLinkage = Rank(rawValue: 16)
  }

  /// Nil beyond any address that a processor can execute.
  init?(start: UInt64, size: UInt64, name: UInt32, rank: Rank) {
    guard start < 1 << 56 else { return nil }
    order = start << 8 | UInt64(rank.rawValue)
    self.size = UInt32(clamping: size)
    self.name = name
  }
}

/// Function symbols of several tables, and where their names are.
struct SymbolCollection {
  static let maximumSymbols = 4_000_000

  private(set) var entries: [SymbolEntry] = []
  private(set) var strings = SymbolStrings()

  mutating func takeEntries() -> [SymbolEntry] {
    defer { entries = [] }
    return entries
  }

  mutating func append(_ entry: SymbolEntry) { entries.append(entry) }

  /// `opened` is the file again, for the names that are read later.
  mutating func addFullTable(from file: borrowing ElfFile, _ opened: SharedFile) throws(SymbolFailure) {
    guard let table = file.firstSection(ofType: SHT_SYMTAB) else { return }
    let count = try Self.symbolCount(of: table, in: file)
    let base = try addStrings(of: table, in: file, opened)
    try addSymbols(section: table, count, of: file, stringBase: base)
  }

  mutating func addFullTable(ofFile opened: SharedFile) throws(SymbolFailure) {
    try addFullTable(from: ElfFile(descriptor: opened.rawDescriptor), opened)
  }

  /// Adds the dynamic symbols and the linkage table's jumps. A full table that was read before holds the same
  /// functions; one that was thinned out, by hand or for mini debug information, may hold fewer, and then both count.
  mutating func addDynamicTable(from file: borrowing ElfFile, _ opened: SharedFile) throws(SymbolFailure) {
    guard let table = file.firstSection(ofType: SHT_DYNSYM) else { return }
    let before = entries.count
    let count = try Self.symbolCount(of: table, in: file)
    let base = try addStrings(of: table, in: file, opened)
    if before < count {
      try addSymbols(section: table, count, of: file, stringBase: base)
      if before >= entries.count - before { entries.removeSubrange(before...) }
    }
    try addProcedureLinkage(of: file, symbolTable: table, stringBase: base)
  }

  private static func symbolCount(of table: Int, in file: borrowing ElfFile) throws(SymbolFailure) -> Int {
    let section = file.sections[table]
    guard section.entrySize == UInt64(MemoryLayout<Elf64_Sym>.size) else { throw .damaged }
    let count = section.size / section.entrySize
    guard count <= UInt64(maximumSymbols) else { throw .tooLarge }
    return Int(count)
  }

  private mutating func addSymbols(
    section table: Int, _ count: Int, of file: borrowing ElfFile, stringBase: Int
  ) throws(SymbolFailure) {
    let code = file.sections.map(\.code)
    entries.reserveCapacity(entries.count + count)
    try file.readPieces(ofSection: table, unit: MemoryLayout<Elf64_Sym>.size) { bytes in
      addSymbols(in: bytes, stringBase: stringBase) { symbol in
        let section = Int(symbol.st_shndx)
        return section < code.count ? code[section] : nil
      }
    }
  }

  /// Adds the functions of a table whose strings begin at `stringBase`; `home` answers where the code of the symbol's
  /// section lies.
  mutating func addSymbols(in bytes: RawSpan, stringBase: Int, home: (Elf64_Sym) -> Range<UInt64>?) {
    for number in 0..<bytes.byteCount / MemoryLayout<Elf64_Sym>.size {
      let offset = number * MemoryLayout<Elf64_Sym>.size
      let symbol = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: Elf64_Sym.self)
      let name = stringBase + Int(symbol.st_name)
      guard symbol.st_name != 0, name < strings.byteCount, symbol.st_shndx != UInt16(SHN_UNDEF),
        let rank = SymbolEntry.Rank(symbol), let section = home(symbol), section.contains(symbol.st_value)
      else { continue }
      let rest = section.upperBound - symbol.st_value
      let size = min(rest, symbol.st_size == 0 ? SymbolIndex.reachWithoutSize : symbol.st_size)
      if let entry = SymbolEntry(start: symbol.st_value, size: size, name: UInt32(name), rank: rank) {
        entries.append(entry)
      }
    }
  }

  private mutating func addStrings(
    of table: Int, in file: borrowing ElfFile, _ opened: SharedFile
  ) throws(SymbolFailure) -> Int {
    let link = file.sections[table].link
    guard file.sections.indices.contains(link), file.sections[link].type == UInt32(SHT_STRTAB),
      file.contains(section: link)
    else { throw .damaged }
    return try addStrings(opened, offset: file.sections[link].offset, count: file.sections[link].size)
  }

  mutating func addStrings(_ file: SharedFile, offset: UInt64, count: UInt64) throws(SymbolFailure) -> Int {
    try strings.add(file, offset: offset, count: count)
  }
}

extension SymbolEntry.Rank {
  /// Functions and indirect functions; labels without a type only as the last resort.
  fileprivate init?(_ symbol: Elf64_Sym) {
    let type = Int32(symbol.st_info & 0xF)
    guard type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE else { return nil }
    self = []
    switch Int32(symbol.st_info >> 4) {
    case STB_WEAK: insert(.weak)
    case STB_LOCAL: insert(.local)
    default: break
    }
    if symbol.st_size == 0 { insert(.withoutSize) }
    if type == STT_NOTYPE { insert(.label) }
  }
}

extension ElfSection {
  /// Where its code lies; nil if it has none, or wraps around.
  fileprivate var code: Range<UInt64>? {
    guard isExecutable, let end else { return nil }
    return address..<end
  }
}
