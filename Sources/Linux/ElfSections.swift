// The sections of an ELF file, for what no program header leads to.

extension ElfImage {
  /// Real programs have about 40. Files with more than this are object files, or hostile.
  private static let sectionLimit = 4096

  /// Nil if there is no section of that name, or it has no contents in the file or compressed ones.
  package func section(named name: String) -> Segment? {
    guard let header = pages.bytes(at: 0, count: 64) else { return nil }
    let table = header.littleEndian(at: 40, count: 8)
    let count = Int(header.littleEndian(at: 60, count: 2))
    let nameTable = Int(header.littleEndian(at: 62, count: 2))
    // Layout: `Elf64_Shdr`, 64 bytes.
    guard header.littleEndian(at: 58, count: 2) == 64, nameTable < count, count <= ElfImage.sectionLimit,
      let headers = pages.bytes(at: table, count: count * 64)
    else { return nil }
    let names = headers.littleEndian(at: nameTable * 64 + 24, count: 8)
    let wanted = Array(name.utf8) + [0]
    for start in stride(from: 0, to: count * 64, by: 64) {
      let nameOffset = names &+ headers.littleEndian(at: start, count: 4)
      // SHT_NOBITS has no contents in the file.
      guard headers.littleEndian(at: start + 4, count: 4) != 8,
        pages.bytes(at: nameOffset, count: wanted.count) == wanted
      else { continue }
      // SHF_COMPRESSED
      if headers.littleEndian(at: start + 8, count: 8) & 0x800 != 0 { return nil }
      let size = headers.littleEndian(at: start + 32, count: 8)
      return Segment(
        isExecutable: headers.littleEndian(at: start + 8, count: 8) & 4 != 0,  // SHF_EXECINSTR
        fileOffset: headers.littleEndian(at: start + 24, count: 8),
        virtualAddress: headers.littleEndian(at: start + 16, count: 8), fileSize: size, memorySize: size)
    }
    return nil
  }
}
