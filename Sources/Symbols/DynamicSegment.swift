// Symbols of a file without section headers, by the tables that the dynamic linker uses (gABI, chapter 5).

internal import CElfutils
internal import Glibc
internal import Linux

/// The entries of `PT_DYNAMIC` that matter, as addresses in the file's own terms.
private struct DynamicTables {
  var symbols: UInt64 = 0
  var strings: UInt64 = 0
  var stringBytes: UInt64 = 0
  var hash: UInt64?
  var gnuHash: UInt64?

  var pointers: [UInt64] { [symbols, strings] + [hash, gnuHash].compactMap { $0 } }

  func moved(down bias: UInt64) -> DynamicTables {
    var tables = self
    tables.symbols &-= bias
    tables.strings &-= bias
    tables.hash = hash.map { $0 &- bias }
    tables.gnuHash = gnuHash.map { $0 &- bias }
    return tables
  }
}

extension SymbolCollection {
  private static let maximumStringTable: UInt64 = 128 << 20

  mutating func addDynamicSegment(from file: borrowing ElfFile, _ opened: SharedFile) throws(SymbolFailure) {
    guard let tables = file.dynamicTables else {
      if file.lacksItsSections { throw .damaged }
      return
    }
    guard tables.stringBytes <= Self.maximumStringTable else { throw .tooLarge }
    guard let count = file.symbolCount(tables),
      let strings = file.offset(of: tables.strings, tables.stringBytes)
    else { throw .damaged }
    guard count <= Self.maximumSymbols else { throw .tooLarge }
    let base = try addStrings(opened, offset: strings, count: tables.stringBytes)
    let code = file.codeRanges
    let size = UInt64(count * MemoryLayout<Elf64_Sym>.size)
    guard let symbols = file.copy(tables.symbols, size) else { throw .damaged }
    unsafe addSymbols(in: symbols.span.bytes, stringBase: base) { symbol in
      code.first { $0.contains(symbol.st_value) }
    }
  }
}

extension ElfFile {
  /// Where in the file the bytes stand that the loader puts at an address.
  fileprivate func offset(of address: UInt64, _ count: UInt64) -> UInt64? {
    for header in programHeaders where header.p_type == UInt32(PT_LOAD) && header.p_vaddr <= address {
      let start = address - header.p_vaddr
      guard start < header.p_filesz, count <= header.p_filesz - start else { continue }
      return header.p_offset &+ start
    }
    return nil
  }

  fileprivate func copy(_ address: UInt64, _ count: UInt64) -> [UInt8]? {
    offset(of: address, count).flatMap { copy(offset: $0, count) }
  }

  private func copy(offset: UInt64, _ count: UInt64) -> [UInt8]? {
    if count == 0 { return [] }
    guard let offset = Int64(exactly: offset), let count = Int(exactly: count),
      let data = unsafe elf_getdata_rawchunk(handle.pointer, offset, count, ELF_T_BYTE)
    else { return nil }
    return unsafe Array(UnsafeRawBufferPointer(start: data.pointee.d_buf, count: data.pointee.d_size))
  }

  private func word(_ address: UInt64) -> UInt32? {
    copy(address, 4).map { unsafe $0.span.bytes.unsafeLoadUnaligned(as: UInt32.self) }
  }

  /// In a file put together from memory the dynamic linker has already moved the addresses to where the module lay.
  /// How far is found by trial: the first symbol and the first string are all zeros, and the tables begin within the
  /// first pages.
  fileprivate var dynamicTables: DynamicTables? {
    guard let stated = statedTables, let lowest = stated.pointers.min() else { return nil }
    let pageSize: UInt64 = 4096
    let first = programHeaders.first { $0.p_type == UInt32(PT_LOAD) }?.p_vaddr ?? 0
    let page = lowest / pageSize * pageSize
    let moves = [0] + (0..<16).map { page &- (first / pageSize &+ $0) &* pageSize }
    return moves.lazy.map { stated.moved(down: $0) }.first { tables in
      tables.pointers.allSatisfy { copy($0, 4) != nil } && copy(tables.strings, 1) == [0]
        && copy(tables.symbols, 24) == [UInt8](repeating: 0, count: 24)
    }
  }

  private var statedTables: DynamicTables? {
    guard let header = programHeaders.first(where: { $0.p_type == UInt32(PT_DYNAMIC) }),
      let bytes = copy(offset: header.p_offset, min(header.p_filesz, 65_536))
    else { return nil }
    var tables = DynamicTables()
    for number in 0..<bytes.count / MemoryLayout<Elf64_Dyn>.size {
      let offset = number * MemoryLayout<Elf64_Dyn>.size
      let (tag, value) = unsafe bytes.withUnsafeBytes { raw in
        unsafe (
          raw.loadUnaligned(fromByteOffset: offset, as: Int64.self),
          raw.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)
        )
      }
      switch tag {
      case Int64(DT_SYMTAB): tables.symbols = value
      case Int64(DT_STRTAB): tables.strings = value
      case Int64(DT_STRSZ): tables.stringBytes = value
      case Int64(DT_HASH): tables.hash = value
      case Int64(DT_GNU_HASH): tables.gnuHash = value
      default: break
      }
    }
    return tables.symbols == 0 || tables.strings == 0 ? nil : tables
  }

  /// The symbol table states no length; a hash table over it does.
  fileprivate func symbolCount(_ tables: DynamicTables) -> Int? {
    if let hash = tables.hash { return word(hash &+ 4).map(Int.init) }
    if let hash = tables.gnuHash { return gnuSymbolCount(hash) }
    // Linkers put the strings behind the symbols.
    guard tables.symbols < tables.strings else { return nil }
    return Int((tables.strings - tables.symbols) / UInt64(MemoryLayout<Elf64_Sym>.size))
  }

  /// One more than the largest symbol of the last chain. The table is four words (buckets, first symbol, words of the
  /// filter, shift), the filter, the buckets, and a word per symbol whose lowest bit ends a chain.
  private func gnuSymbolCount(_ hash: UInt64) -> Int? {
    guard let buckets = word(hash), let firstSymbol = word(hash &+ 4), let filter = word(hash &+ 8),
      buckets <= SymbolCollection.maximumSymbols,
      let bytes = copy(hash &+ 16 &+ UInt64(filter) * 8, UInt64(buckets) * 4)
    else { return nil }
    let starts = unsafe bytes.withUnsafeBytes { raw in
      (0..<Int(buckets)).map { unsafe raw.loadUnaligned(fromByteOffset: 4 * $0, as: UInt32.self) }
    }
    guard var symbol = starts.max(), symbol >= firstSymbol else { return Int(firstSymbol) }
    let chains = hash &+ 16 &+ UInt64(filter) * 8 &+ UInt64(buckets) * 4
    // Chains have a few links; this one is read link by link.
    for _ in 0..<65_536 where symbol < SymbolCollection.maximumSymbols {
      guard let link = word(chains &+ UInt64(symbol - firstSymbol) * 4) else { return nil }
      symbol += 1
      if link & 1 != 0 { return Int(symbol) }
    }
    return nil
  }
}
