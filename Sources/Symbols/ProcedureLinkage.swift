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
    let slots = try Self.slots(of: file, symbolTable: symbolTable)
    for index in tables {
      let section = sections[index]
      let jumps = try file.withBytes(ofSection: index) { Self.jumps(in: $0, section: section) }
      for jump in jumps {
        guard let name = slots[jump.slot], let sectionEnd = section.end,
          stringBase + Int(name) < strings.count
        else {
          continue
        }
        append(
          SymbolCandidate(
            address: jump.entry, end: min(jump.entry &+ section.entrySize, sectionEnd),
            name: UInt32(stringBase + Int(name)), rank: 16, statesEnd: true, isProcedureLinkage: true))
      }
    }
  }

  private static func jumps(in bytes: RawSpan, section: ElfSection) -> [(entry: UInt64, slot: UInt64)] {
    let size = Int(section.entrySize)
    var jumps: [(UInt64, UInt64)] = []
    for start in stride(from: 0, to: bytes.byteCount - size + 1, by: size).prefix(maximumEntries) {
      for position in start..<start + size - 5 {
        let opcode = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: position, as: UInt16.self)
        guard opcode == 0x25FF else { continue }
        let displacement = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: position + 2, as: Int32.self)
        let next = section.address &+ UInt64(position + 6)
        jumps.append((section.address &+ UInt64(start), next &+ UInt64(bitPattern: Int64(displacement))))
        break
      }
    }
    return jumps
  }

  /// Slot address → offset of the symbol's name in the dynamic strings.
  private static func slots(
    of file: borrowing ElfFile, symbolTable: Int
  ) throws(SymbolFailure) -> [UInt64: UInt32] {
    let sections = file.sections
    var symbolOfSlot: [(slot: UInt64, symbol: Int)] = []
    for index in sections.indices where sections[index].isRelocation && sections[index].link == symbolTable {
      symbolOfSlot += try file.withBytes(ofSection: index, Self.jumpRelocations)
    }
    return try file.withBytes(ofSection: symbolTable) { bytes in
      var names: [UInt64: UInt32] = [:]
      let size = MemoryLayout<Elf64_Sym>.size
      for (slot, symbol) in symbolOfSlot where symbol < bytes.byteCount / size {
        let entry = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: symbol * size, as: Elf64_Sym.self)
        if entry.st_name != 0 { names[slot] = entry.st_name }
      }
      return names
    }
  }

  private static func jumpRelocations(in bytes: RawSpan) -> [(slot: UInt64, symbol: Int)] {
    let size = MemoryLayout<Elf64_Rela>.size
    var result: [(UInt64, Int)] = []
    for number in 0..<bytes.byteCount / size where result.count < maximumEntries {
      let entry = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: number * size, as: Elf64_Rela.self)
      let type = UInt32(truncatingIfNeeded: entry.r_info)
      guard type == UInt32(R_X86_64_JUMP_SLOT) || type == UInt32(R_X86_64_GLOB_DAT) else { continue }
      result.append((entry.r_offset, Int(entry.r_info >> 32)))
    }
    return result
  }
}

extension ElfSection {
  fileprivate var isRelocation: Bool { type == UInt32(SHT_RELA) }

  /// Only linkage tables are code in entries of 8 or 16 bytes (binutils and lld state it; other code has none).
  fileprivate var isProcedureLinkageCandidate: Bool {
    type == UInt32(SHT_PROGBITS) && isExecutable && (entrySize == 8 || entrySize == 16)
  }
}
