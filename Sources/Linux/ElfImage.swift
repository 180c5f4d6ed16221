// An executable or library as a file: what unwinding and naming need of its headers.

/// Why a file is of no use as an image.
package enum ElfError: Error, Hashable, Sendable {
  case notElf
  /// A 32-bit or big-endian file, or one for another processor.
  case foreign
  /// Its headers contradict themselves or lie outside the file.
  case damaged
}

/// An opened ELF file for x86-64. Layouts: System V gABI chapters 4 and 5, elf(5).
///
/// Everything in it was written by others. Header values are bounded here and may still be nonsense.
package final class ElfImage: Sendable {
  package struct Segment: Sendable {
    package var isExecutable: Bool
    package var fileOffset: UInt64
    package var virtualAddress: UInt64
    package var fileSize: UInt64
    package var memorySize: UInt64
  }

  package let pages: FilePages
  /// Device and inode as `maps` prints them: the same file, the same identity.
  package let identity: FileIdentity
  /// Address of the first instruction, in the file's own terms.
  package let entry: UInt64
  /// The loadable segments.
  package let segments: [Segment]
  /// `.eh_frame_hdr`, the sorted table of unwind rules.
  package let unwindTable: Segment?
  /// The GNU build-id note in lower-case hex.
  package let buildID: String?

  /// The open file; nil for a copy of memory.
  package var rawDescriptor: Int32? { pages.rawDescriptor }

  /// Real files have about 13; more than this is refused.
  private static let headerLimit = 512

  package init(pages: FilePages, identity: FileIdentity) throws(ElfError) {
    guard let header = pages.bytes(at: 0, count: 64), header[0..<4] == [0x7F, 0x45, 0x4C, 0x46] else {
      throw .notElf
    }
    // ELFCLASS64, ELFDATA2LSB, EM_X86_64
    guard header[4] == 2, header[5] == 1, header.littleEndian(at: 18, count: 2) == 62 else { throw .foreign }
    let programHeaders = try ElfImage.programHeaders(pages, header)
    self.pages = pages
    self.identity = identity
    entry = header.littleEndian(at: 24, count: 8)
    segments = programHeaders.filter { $0.kind == .load }.map(\.segment)
    unwindTable = programHeaders.first { $0.kind == .unwindTable }?.segment
    buildID = programHeaders.lazy.compactMap { ElfImage.buildID(pages, $0) }.first
  }

  /// How far the file is moved in memory: the difference between an address in the process and the same address in
  /// the file's terms.
  ///
  /// A mapping is a whole number of pages, so both the segment's offset and its address are floored to pages
  /// (`elf_map`, fs/binfmt_elf.c). Counting from file offsets alone is wrong for linkers that let offset and address
  /// differ (lld, mold). Two segments can share a page of the file, then the one mapped with the same rights is meant.
  package func loadBias(of region: MemoryRegion) -> UInt64? {
    let covering = segments.filter { segment in
      let (end, overflow) = segment.fileOffset.addingReportingOverflow(segment.fileSize)
      return !overflow && ElfImage.pageFloor(segment.fileOffset) <= region.fileOffset
        && region.fileOffset < end
    }
    guard let segment = covering.first(where: { $0.isExecutable == region.isExecutable }) ?? covering.first
    else {
      return nil
    }
    let intoSegment = region.fileOffset - ElfImage.pageFloor(segment.fileOffset)
    return region.start &- ElfImage.pageFloor(segment.virtualAddress) &- intoSegment
  }

  private static func pageFloor(_ value: UInt64) -> UInt64 { value & ~4095 }
}

extension ElfImage {
  private enum HeaderKind { case load, note, unwindTable, other }

  private struct ProgramHeader {
    var kind: HeaderKind
    var alignment: UInt64
    var segment: Segment
  }

  private static func programHeaders(_ pages: FilePages, _ header: [UInt8]) throws(ElfError)
    -> [ProgramHeader]
  {
    let offset = header.littleEndian(at: 32, count: 8)
    let entrySize = Int(header.littleEndian(at: 54, count: 2))
    let count = Int(header.littleEndian(at: 56, count: 2))
    guard entrySize == 56, count <= headerLimit, let table = pages.bytes(at: offset, count: count * entrySize)
    else { throw .damaged }
    return (0..<count).map { programHeader(Array(table[($0 * entrySize)..<(($0 + 1) * entrySize)])) }
  }

  /// `Elf64_Phdr`.
  private static func programHeader(_ bytes: [UInt8]) -> ProgramHeader {
    let kind: HeaderKind =
      switch bytes.littleEndian(at: 0, count: 4) {
      case 1: .load  // PT_LOAD
      case 4: .note  // PT_NOTE
      case 0x6474_E550: .unwindTable  // PT_GNU_EH_FRAME
      default: .other
      }
    return ProgramHeader(
      kind: kind, alignment: bytes.littleEndian(at: 48, count: 8),
      segment: Segment(
        isExecutable: bytes.littleEndian(at: 4, count: 4) & 1 != 0,  // PF_X
        fileOffset: bytes.littleEndian(at: 8, count: 8), virtualAddress: bytes.littleEndian(at: 16, count: 8),
        fileSize: bytes.littleEndian(at: 32, count: 8), memorySize: bytes.littleEndian(at: 40, count: 8)))
  }

  /// Looks for a note of type 3 (NT_GNU_BUILD_ID) owned by "GNU". Name and contents are padded to the alignment of
  /// the segment, which is 4 or 8.
  private static func buildID(_ pages: FilePages, _ header: ProgramHeader) -> String? {
    guard header.kind == .note, header.segment.fileSize <= 65_536,
      let notes = pages.bytes(at: header.segment.fileOffset, count: Int(header.segment.fileSize))
    else { return nil }
    let padding = header.alignment == 8 ? 7 : 3
    var position = 0
    while position + 12 <= notes.count {
      let nameSize = Int(notes.littleEndian(at: position, count: 4))
      let size = Int(notes.littleEndian(at: position + 4, count: 4))
      let name = position + 12
      let contents = position + (12 + nameSize + padding) & ~padding
      guard contents + size <= notes.count else { return nil }
      if notes.littleEndian(at: position + 8, count: 4) == 3,
        notes[name...].starts(with: Array("GNU\0".utf8)),
        nameSize == 4, 1...64 ~= size
      {
        return notes[contents..<(contents + size)].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
          .joined()
      }
      position = contents + (size + padding) & ~padding
    }
    return nil
  }
}

extension [UInt8] {
  /// The unsigned number of `count` bytes at `offset`, which the caller knows to be inside.
  package func littleEndian(at offset: Int, count: Int) -> UInt64 {
    self[offset..<(offset + count)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}
