// Names for the procedure linkage table: the short jumps through which x86-64 code calls other modules.

internal import CElfutils
internal import Glibc

extension SymbolCollection {
  private static let maximumEntries = 65_536

  /// Gives each jump of the `.plt*` sections the name of the dynamic symbol whose address its slot receives.
  ///
  /// The slot is read from the instruction itself, `jmp *disp32(%rip)` (FF 25): the order of entries differs between
  /// lazy, immediate and IBT layouts and between linkers, the slot does not. `symbolTable` is the section index of
  /// `.dynsym`, `stringBase` where its strings begin.
  mutating func addProcedureLinkage(
    of file: borrowing ElfFile, symbolTable: Int, stringBase: Int
  ) throws(SymbolFailure) {
    guard file.isX8664 else { return }
    let sections = file.sections
    let tables = sections.indices.filter { sections[$0].isProcedureLinkageCandidate }
    if tables.isEmpty { return }
    var jumps: [Jump] = []
    for index in tables {
      let section = sections[index]
      jumps += try file.withBytes(ofSection: index) { Self.jumps(in: $0, section: section) }
    }
    let symbols = try Self.symbols(ofSlots: Set(jumps.map(\.slot)), in: file, symbolTable: symbolTable)
    for jump in jumps {
      guard let symbol = symbols[jump.slot],
        let name = try Self.name(ofSymbol: symbol, in: file, symbolTable: symbolTable),
        stringBase + Int(name) < strings.byteCount,
        let entry = SymbolEntry(
          start: jump.entry, size: jump.size, name: UInt32(stringBase + Int(name)), rank: .procedureLinkage)
      else { continue }
      append(entry)
    }
  }

  private struct Jump {
    var entry: UInt64
    var size: UInt64
    var slot: UInt64
  }

  private static func jumps(in bytes: RawSpan, section: ElfSection) -> [Jump] {
    let size = Int(section.entrySize)
    var jumps: [Jump] = []
    guard let sectionEnd = section.end else { return [] }
    for start in stride(from: 0, to: bytes.byteCount - size + 1, by: size).prefix(maximumEntries) {
      for position in start..<start + size - 5 {
        let opcode = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: position, as: UInt16.self)
        guard opcode == 0x25FF else { continue }
        let displacement = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: position + 2, as: Int32.self)
        let next = section.address &+ UInt64(position + 6)
        let entry = section.address &+ UInt64(start)
        jumps.append(
          Jump(
            entry: entry, size: min(section.entrySize, sectionEnd &- entry),
            slot: next &+ UInt64(bitPattern: Int64(displacement))))
        break
      }
    }
    return jumps
  }

  /// Slot address → number of its dynamic symbol, for those slots that something jumps through.
  private static func symbols(
    ofSlots slots: Set<UInt64>, in file: borrowing ElfFile, symbolTable: Int
  ) throws(SymbolFailure) -> [UInt64: Int] {
    let sections = file.sections
    let size = MemoryLayout<Elf64_Rela>.size
    var symbols: [UInt64: Int] = [:]
    for index in sections.indices where sections[index].isRelocation && sections[index].link == symbolTable {
      try file.readPieces(ofSection: index, unit: size) { bytes in
        for number in 0..<bytes.byteCount / size {
          let entry = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: number * size, as: Elf64_Rela.self)
          let type = UInt32(truncatingIfNeeded: entry.r_info)
          guard type == UInt32(R_X86_64_JUMP_SLOT) || type == UInt32(R_X86_64_GLOB_DAT) else { continue }
          if slots.contains(entry.r_offset) { symbols[entry.r_offset] = Int(entry.r_info >> 32) }
        }
      }
    }
    return symbols
  }

  /// Where its name stands in the dynamic strings; nil if it has none.
  private static func name(
    ofSymbol number: Int, in file: borrowing ElfFile, symbolTable: Int
  ) throws(SymbolFailure) -> UInt32? {
    let symbol = try file.read(unit: number, ofSection: symbolTable, as: Elf64_Sym.self)
    return symbol.flatMap { $0.st_name == 0 ? nil : $0.st_name }
  }
}

extension ElfSection {
  fileprivate var isRelocation: Bool { type == UInt32(SHT_RELA) }

  /// Only linkage tables are code in entries of 8 or 16 bytes (binutils and lld state it; other code has none).
  fileprivate var isProcedureLinkageCandidate: Bool {
    type == UInt32(SHT_PROGBITS) && isExecutable && (entrySize == 8 || entrySize == 16)
  }
}
