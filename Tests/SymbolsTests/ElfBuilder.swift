// Small ELF files for tests, built byte by byte.

import CLinux
import Glibc
import Linux
import Symbols

/// A symbol to be put into a table.
struct TestSymbol {
  var name: String
  var address: UInt64
  var size: UInt64
  /// STT_NOTYPE 0, STT_OBJECT 1, STT_FUNC 2, STT_GNU_IFUNC 10.
  var type: UInt8 = 2
  /// STB_LOCAL 0, STB_GLOBAL 1, STB_WEAK 2.
  var binding: UInt8 = 1
  /// 1 is `.text`, 0 undefined.
  var section: UInt16 = 1
}

/// Sections: 0 none, 1 `.text` (0x1000…0x9000), then what is added.
struct ElfBuilder {
  private struct Section {
    var type: UInt32
    var flags: UInt64 = 0
    var address: UInt64 = 0
    var bytes: [UInt8] = []
    var size: UInt64?
    var link: UInt32 = 0
    var entrySize: UInt64 = 0
  }

  private var sections = [
    Section(type: 0),
    // SHT_NOBITS, as in a separate debug file; SHF_ALLOC | SHF_EXECINSTR.
    Section(type: 8, flags: 6, address: 0x1000, size: 0x8000),
  ]

  /// SHT_SYMTAB is 2, SHT_DYNSYM 11. Answers the table's section index.
  @discardableResult
  mutating func add(_ symbols: [TestSymbol], type: UInt32 = 2) -> UInt32 {
    var strings: [UInt8] = [0]
    var table = [UInt8](repeating: 0, count: 24)
    for symbol in symbols {
      table += word(UInt32(strings.count)) + [symbol.binding << 4 | symbol.type, 0] + word(symbol.section)
      table += word(symbol.address) + word(symbol.size)
      strings += Array(symbol.name.utf8) + [0]
    }
    let index = UInt32(sections.count)
    sections.append(Section(type: type, bytes: table, link: index + 1, entrySize: 24))
    sections.append(Section(type: 3, bytes: strings))
    return index
  }

  /// A `.plt` at 0x10000 with a header and one jump per relocated slot, and its relocations.
  mutating func addLinkageTable(symbols: [UInt32], dynamicTable: UInt32) {
    var code = [UInt8](repeating: 0x90, count: 16)
    var relocations: [UInt8] = []
    for (position, symbol) in symbols.enumerated() {
      let slot = UInt64(0x20000 + 8 * position)
      let entry = UInt64(0x10000 + 16 * (position + 1))
      code +=
        [0xF3, 0x0F, 0x1E, 0xFA, 0xFF, 0x25] + word(UInt32(slot - entry - 10))
        + [UInt8](repeating: 0x90, count: 6)
      relocations += word(slot) + word(UInt64(symbol) << 32 | 7) + word(UInt64(0))
    }
    sections.append(Section(type: 1, flags: 6, address: 0x10000, bytes: code, entrySize: 16))
    sections.append(Section(type: 4, bytes: relocations, link: dynamicTable, entrySize: 24))
  }

  var bytes: [UInt8] {
    var body: [UInt8] = []
    var headers: [UInt8] = []
    for section in sections {
      headers += word(UInt32(0)) + word(section.type) + word(section.flags) + word(section.address)
      headers += word(UInt64(64 + body.count)) + word(section.size ?? UInt64(section.bytes.count))
      headers += word(section.link) + word(UInt32(0)) + word(UInt64(1)) + word(section.entrySize)
      body += section.bytes
      while body.count % 8 != 0 { body.append(0) }
    }
    // e_ident, ET_DYN, EM_X86_64
    var file: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1] + [UInt8](repeating: 0, count: 9)
    file += word(UInt16(3)) + word(UInt16(62)) + word(UInt32(1)) + word(UInt64(0)) + word(UInt64(0))
    file +=
      word(UInt64(64 + body.count)) + word(UInt32(0)) + word(UInt16(64)) + word(UInt16(56)) + word(UInt16(0))
    file += word(UInt16(64)) + word(UInt16(sections.count)) + word(UInt16(0))
    return file + body + headers
  }

  private func word<Word: FixedWidthInteger>(_ value: Word) -> [UInt8] {
    (0..<Word.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
}

/// A file in memory that holds these bytes.
func memoryFile(_ bytes: [UInt8]) throws(Errno) -> FileDescriptor {
  let file = FileDescriptor(owning: try systemCall { unsafe clinux_memfd_create("test") })
  try file.write(bytes)
  return file
}

/// Replaces the content of an open file from its start.
func rewrite(_ file: borrowing FileDescriptor, _ bytes: [UInt8]) throws(Errno) {
  let descriptor = file.rawValue
  _ = try systemCall { lseek(descriptor, 0, SEEK_SET) }
  try file.write(bytes)
}

/// Keeps the file open until the index is read.
func symbolIndex(of file: borrowing FileDescriptor) throws(SymbolFailure) -> SymbolIndex {
  try SymbolIndex(descriptor: file.rawValue)
}
