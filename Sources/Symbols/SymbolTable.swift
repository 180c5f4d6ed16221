// The function symbols of one symbol table, as candidates for an index.

internal import CElfutils
internal import Glibc

/// A function symbol that may get its place in an index.
struct SymbolCandidate {
  var address: UInt64
  /// Address behind its last byte as the table states it, cut at its section's end; the section's end if the table
  /// states no size.
  var end: UInt64
  /// Offset into the index's strings.
  var name: UInt32
  /// Among names of one address the lowest wins.
  var rank: UInt8
  var statesEnd: Bool
  /// A jump to an imported function rather than the function.
  var isProcedureLinkage = false
}

/// Function symbols of several tables with their strings in one.
struct SymbolCollection {
  static let maximumSymbols = 4_000_000
  /// Offsets into the strings are 32 bits wide.
  static let maximumStringBytes = 512 << 20

  private(set) var candidates: [SymbolCandidate] = []
  private(set) var strings: [UInt8] = []

  mutating func takeCandidates() -> [SymbolCandidate] {
    defer { candidates = [] }
    return candidates
  }

  mutating func append(_ candidate: SymbolCandidate) { candidates.append(candidate) }

  mutating func addTable(ofType type: Int32, from file: borrowing ElfFile) throws(SymbolFailure) {
    if let table = file.firstSection(ofType: type) { _ = try addTable(section: table, of: file) }
  }

  /// Adds the dynamic symbols and the linkage table's jumps. A full table that was read before holds the same
  /// functions; one that was thinned out, by hand or for mini debug information, may hold fewer, and then both count.
  mutating func addDynamicTable(from file: borrowing ElfFile) throws(SymbolFailure) {
    guard let table = file.firstSection(ofType: SHT_DYNSYM) else { return }
    let before = candidates.count
    let strings = try addTable(section: table, of: file)
    if before >= candidates.count - before { candidates.removeSubrange(before...) }
    try addProcedureLinkage(of: file, symbolTable: table, stringBase: strings)
  }

  /// Adds the function symbols of a table and answers where its strings begin in `strings`.
  private mutating func addTable(section index: Int, of file: borrowing ElfFile) throws(SymbolFailure) -> Int
  {
    let table = file.sections[index]
    guard table.entrySize == UInt64(MemoryLayout<Elf64_Sym>.size) else { throw .damaged }
    let count = Int(table.size / table.entrySize)
    guard count <= Self.maximumSymbols else { throw .tooLarge }
    let base = try addStrings(section: table.link, of: file)
    let sections = file.sections
    try file.withBytes(ofSection: index) { bytes in
      addSymbols(in: bytes, count: count, stringBase: base) { symbol in
        let section = Int(symbol.st_shndx)
        return sections.indices.contains(section) ? sections[section] : nil
      }
    }
    return base
  }

  /// Adds the functions of a table whose strings begin at `stringBase`; `home` answers the section of a symbol.
  mutating func addSymbols(
    in bytes: RawSpan, count: Int, stringBase: Int, home: (Elf64_Sym) -> ElfSection?
  ) {
    for number in 0..<min(count, bytes.byteCount / MemoryLayout<Elf64_Sym>.size) {
      let offset = number * MemoryLayout<Elf64_Sym>.size
      let symbol = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: Elf64_Sym.self)
      let name = stringBase + Int(symbol.st_name)
      guard symbol.st_name != 0, name < strings.count, symbol.st_shndx != UInt16(SHN_UNDEF),
        let section = home(symbol),
        let candidate = Self.candidate(symbol, name: UInt32(name), section)
      else { continue }
      candidates.append(candidate)
    }
  }

  private mutating func addStrings(section index: Int, of file: borrowing ElfFile) throws(SymbolFailure)
    -> Int
  {
    guard file.sections.indices.contains(index), file.sections[index].type == UInt32(SHT_STRTAB) else {
      throw .damaged
    }
    let base = strings.count
    guard file.sections[index].size < UInt64(Self.maximumStringBytes - base) else { throw .tooLarge }
    try file.append(section: index, to: &strings)
    strings.append(0)
    return base
  }

  /// Both tables' strings at once: growing the array would copy the first ones.
  mutating func reserveStrings(of file: borrowing ElfFile) {
    let tables = [SHT_SYMTAB, SHT_DYNSYM].compactMap { file.firstSection(ofType: $0) }
    let sizes = tables.map { file.sections[$0].link }.filter { file.sections.indices.contains($0) }
      .map { min(file.sections[$0].size, ElfFile.maximumSectionBytes) }
    strings.reserveCapacity(Int(sizes.reduce(2, +)))
  }

  /// They begin where `strings` ended.
  mutating func addStrings(_ bytes: RawSpan) throws(SymbolFailure) {
    guard strings.count + bytes.byteCount < Self.maximumStringBytes else { throw .tooLarge }
    strings.reserveCapacity(strings.count + bytes.byteCount + 1)
    unsafe bytes.withUnsafeBytes { unsafe strings.append(contentsOf: $0) }
    strings.append(0)
  }

  /// Functions and indirect functions anywhere executable; labels without a type only as the last resort.
  private static func candidate(
    _ symbol: Elf64_Sym, name: UInt32, _ section: ElfSection
  ) -> SymbolCandidate? {
    let type = Int32(symbol.st_info & 0xF)
    let binding = Int32(symbol.st_info >> 4)
    guard type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE else { return nil }
    guard section.isExecutable, let sectionEnd = section.end,
      section.address <= symbol.st_value, symbol.st_value < sectionEnd
    else { return nil }
    let (end, overflow) = symbol.st_value.addingReportingOverflow(symbol.st_size)
    let bindingRank: UInt8 = binding == STB_WEAK ? 1 : binding == STB_LOCAL ? 2 : 0
    let rank = (type == STT_NOTYPE ? 8 : 0) + (symbol.st_size == 0 ? 4 : 0) + bindingRank
    return SymbolCandidate(
      address: symbol.st_value,
      end: symbol.st_size == 0 || overflow ? sectionEnd : min(end, sectionEnd), name: name, rank: rank,
      statesEnd: symbol.st_size != 0)
  }
}

/// The NUL-terminated string at an offset, cut after 16 KiB: a hostile table can let every symbol name the same
/// megabytes.
func symbolName(at offset: UInt32, in strings: [UInt8]) -> ArraySlice<UInt8> {
  let rest = strings.dropFirst(Int(offset)).prefix(16_384)
  return rest.prefix(rest.firstIndex(of: 0).map { $0 - rest.startIndex } ?? rest.count)
}
