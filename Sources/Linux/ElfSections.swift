// The sections of an ELF file, for what no program header leads to.

internal import CCompression

extension ElfImage {
  /// Real programs have about 40. Files with more than this are object files, or hostile.
  private static let sectionLimit = 4096

  /// Nil if there is no section of that name, or it has no contents in the file or compressed ones.
  package func section(named name: String) -> Segment? {
    guard let section = anySection(named: name), !section.isCompressed else { return nil }
    return section.segment
  }

  /// The section's bytes, taken out of a zlib stream if they are in one; nil if they are more than `limit`.
  package func contents(ofSection name: String, limit: Int) -> [UInt8]? {
    guard let section = anySection(named: name), section.segment.fileSize <= UInt64(limit) else { return nil }
    var bytes: [UInt8] = []
    while UInt64(bytes.count) < section.segment.fileSize {
      let count = min(1 << 20, Int(section.segment.fileSize) - bytes.count)
      guard let piece = pages.bytes(at: section.segment.fileOffset &+ UInt64(bytes.count), count: count)
      else { return nil }
      bytes += piece
    }
    return section.isCompressed ? ElfImage.inflated(bytes, limit: limit) : bytes
  }

  /// Layout: `Elf64_Chdr` (gABI chapter 4, "Section compression"): type, four bytes more, size, alignment, the stream.
  private static func inflated(_ section: [UInt8], limit: Int) -> [UInt8]? {
    // ELFCOMPRESS_ZLIB
    guard section.count > 24, section.littleEndian(at: 0, count: 4) == 1,
      let size = Int(exactly: section.littleEndian(at: 8, count: 8)), 1...limit ~= size
    else { return nil }
    var bytes = [UInt8](repeating: 0, count: size)
    let isWhole = unsafe section.withUnsafeBufferPointer { section in
      unsafe ccompression_inflate(section.baseAddress! + 24, section.count - 24, &bytes, size)
    }
    return isWhole ? bytes : nil
  }

  private func anySection(named name: String) -> (segment: Segment, isCompressed: Bool)? {
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
      let flags = headers.littleEndian(at: start + 8, count: 8)
      let size = headers.littleEndian(at: start + 32, count: 8)
      let segment = Segment(
        isExecutable: flags & 4 != 0,  // SHF_EXECINSTR
        fileOffset: headers.littleEndian(at: start + 24, count: 8),
        virtualAddress: headers.littleEndian(at: start + 16, count: 8), fileSize: size, memorySize: size)
      return (segment, isCompressed: flags & 0x800 != 0)  // SHF_COMPRESSED
    }
    return nil
  }
}
