// Sections of a module's file that can be put into one by themselves: packed ones, links to others, unwind rules.

import CCompression
import Linux
import Stacks
import StallCore
import Symbols

/// A program file of one loaded segment that holds all of it, and of one section.
enum SectionFile {
  private static let headers = 64 + 56

  /// Where the section begins, in the file and in memory.
  static let start = headers

  static func file(_ name: String, flags: UInt64 = 0, _ contents: [UInt8]) -> [UInt8] {
    let names = [0] + Array(name.utf8) + [0] + Array(".shstrtab".utf8) + [0]
    let namesStart = start + contents.count
    let table = namesStart + names.count
    // `Elf64_Ehdr`: ET_DYN, EM_X86_64, the entry, one program header, three section headers, the last one for names.
    var file: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1, 0] + UInt64(0).inputBytes
    file += UInt32(62 << 16 | 3).inputBytes + UInt32(1).inputBytes + UInt64(headers).inputBytes
    file += UInt64(64).inputBytes + UInt64(table).inputBytes + UInt32(0).inputBytes
    for size in [64, 56, 1, 64, 3, 2] { file += UInt16(size).inputBytes }
    // `Elf64_Phdr`: PT_LOAD, readable and executable, 64 KB in memory.
    file += UInt32(1).inputBytes + UInt32(5).inputBytes
    for word in [0, 0, 0, table, memorySize, 4096] { file += UInt64(word).inputBytes }
    file += contents + names + [UInt8](repeating: 0, count: 64)
    // `Elf64_Shdr`: SHT_PROGBITS, SHT_STRTAB.
    file += UInt32(1).inputBytes + UInt32(1).inputBytes + flags.inputBytes
    for word in [start, start, contents.count, 0, 1, 0] { file += UInt64(word).inputBytes }
    file += UInt32(2 + name.utf8.count).inputBytes + UInt32(3).inputBytes
    for word in [0, 0, namesStart, names.count, 0, 1, 0] { file += UInt64(word).inputBytes }
    return file
  }

  static let memorySize = 65_536
  /// SHF_COMPRESSED
  static let isCompressed: UInt64 = 0x800
}

extension FuzzedParser {
  static var packedSections: [FuzzedParser] {
    [FuzzedParser("packed-section", seeds: packedSeeds, run: unpack)]
  }

  private static let sections: [(name: String, flags: UInt64)] = [
    (".gnu_debugdata", 0), (".debug_info", SectionFile.isCompressed), (".zdebug_info", 0),
    (".gnu_debuglink", 0), (".gnu_debugaltlink", 0), (".debug_frame", SectionFile.isCompressed),
  ]

  /// The first byte says which section the others are.
  private static func unpack(_ bytes: [UInt8]) {
    guard let first = bytes.first else { return }
    let section = sections[Int(first) % sections.count]
    let contents = Array(bytes.dropFirst())
    // As much memory as is stated, up to a limit, is had before anything is unpacked: a slow test and no other answer.
    let stated = [8..<16, 4..<12].map {
      contents.count < 16 ? 0 : contents.littleEndian(at: $0.lowerBound, count: 8)
    }
    if section.flags != 0, stated[0] > mostStated { return }
    if section.name == ".zdebug_info", stated[1].byteSwapped > mostStated { return }
    let file = SectionFile.file(section.name, flags: section.flags, contents)
    readAll(file)
    let identity = FileIdentity(deviceMajor: 0, deviceMinor: 0, inode: 1)
    let image = try? ElfImage(pages: FilePages(contents: file), identity: identity)
    let plain = image?.contents(ofSection: section.name, limit: Int(mostStated))
    expect(image != nil, "the file is none of a program")
    expect((plain?.count ?? 0) <= mostStated, "more was unpacked than was allowed")
  }

  private static let mostStated: UInt64 = 1 << 20

  private static func readAll(_ file: [UInt8]) {
    let bytes = unsafe file.span.bytes
    guard let held = try? SealedBytes.copy(bytes) else { return }
    var symbolicator = Symbolicator(debugFiles: DebugFileSearch(directories: []))
    var frame = Frame(programCounter: 64, trust: .exact)
    frame.moduleOffset = 64
    frame.module = ModuleReference(path: "/nowhere/program", buildID: nil)
    symbolicator.name(&frame, lookup: 64, descriptor: held.rawDescriptor)
    let end = Clock.monotonicNanoseconds + 500_000_000
    _ = symbolicator.expand(frame, lookup: 64, descriptor: held.rawDescriptor, deadline: end)
  }

  private static var packedSeeds: [[UInt8]] {
    let plain = Array(ModuleFile.original.prefix(2048))
    let (zlib, zstd) = (Packed.zlib(plain), Packed.zstd(plain))
    let size = UInt64(plain.count)
    func stated(_ type: UInt64) -> [UInt8] { [type, size, 1].flatMap(\.inputBytes) }
    return [
      [0] + Packed.xz(Array(ModuleFile.original.prefix(16_384))), [1] + stated(1) + zlib,
      [1] + stated(2) + zstd,
      [2] + Array("ZLIB".utf8) + size.byteSwapped.inputBytes + zlib, [5] + stated(1) + zlib,
      [3] + Array("program.debug\0\0\0".utf8) + UInt32(7).inputBytes,
      [4] + Array("../.dwz/program\0".utf8) + Array(0..<20),
    ]
  }
}

private enum Packed {
  private static let room = 32_768

  static func zlib(_ plain: [UInt8]) -> [UInt8] {
    guard let stream = unsafe libdeflate_alloc_compressor(6) else { return [] }
    defer { unsafe libdeflate_free_compressor(stream) }
    var bytes = [UInt8](repeating: 0, count: room)
    let count = unsafe libdeflate_zlib_compress(stream, plain, plain.count, &bytes, room)
    return Array(bytes.prefix(count))
  }

  static func zstd(_ plain: [UInt8]) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: room)
    let count = unsafe ZSTD_compress(&bytes, room, plain, plain.count, 3)
    return Array(bytes.prefix(count))
  }

  static func xz(_ plain: [UInt8]) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: room)
    var count = 0
    _ = unsafe lzma_easy_buffer_encode(
      6, LZMA_CHECK_CRC32, nil, plain, plain.count, &bytes, &count, room)
    return Array(bytes.prefix(count))
  }
}

/// A thread in a program whose unwind rules are the input. The first byte says of which kind.
struct HostileRules {
  private static let loadBias: UInt64 = 0x5555_5555_4000
  private static let stackStart: UInt64 = 0x7FFF_FFFF_0000
  private static let pointer = loadBias + 0x200
  private static let map = MemoryMap(
    parsing: Array(
      """
      555555554000-555555564000 r-xp 00000000 08:01 1 /program
      7fffffff0000-7ffffffff000 rw-p 00000000 00:00 0 [stack]

      """.utf8))

  let snapshot: ThreadSnapshot
  let space: AddressSpace

  init(_ bytes: [UInt8]) {
    let name = (bytes.first ?? 0) & 1 == 0 ? ".debug_frame" : ".eh_frame"
    let file = SectionFile.file(name, Array(bytes.dropFirst()))
    let image = try? ElfImage(
      pages: FilePages(contents: file), identity: FileIdentity(deviceMajor: 8, deviceMinor: 1, inode: 1))
    space = AddressSpace(map: Self.map) { $0.hasFile ? image : nil }
    var registers = Registers()
    for number in 0..<Registers.count { registers[number] = Self.stackStart + UInt64(8 * number) }
    registers[Registers.programCounter] = Self.pointer
    registers[Registers.stackPointer] = Self.stackStart
    let words = (0..<64 as Range<UInt64>).map {
      $0 % 2 == 0 ? Self.pointer + $0 : Self.stackStart + 8 * $0
    }
    snapshot = ThreadSnapshot(
      threadID: 1, way: .ptrace, registers: registers, stackAddress: Self.stackStart,
      stackBytes: words.flatMap(\.inputBytes), stoppedFor: .zero, takenAt: Instant(nanoseconds: 0))
  }

  static var seeds: [[UInt8]] {
    [
      [0] + common([1, 0, 1, 0x78, 16]) + rule(common: 0, loadedFrom: nil),
      [0] + common([4, 0, 8, 0, 1, 0x78, 16]) + rule(common: 0, loadedFrom: nil),
      [0] + common([3, 0, 1, 0x78, 0xFF, 0xFF, 0xFF, 0x7F]) + rule(common: 0, loadedFrom: nil),
      // DW_CFA_register: rbp is in a register that no processor has.
      [0] + common([1, 0, 1, 0x78, 16, 9, 6, 0xFF, 0xFF, 0xFF, 0x7F]) + rule(common: 0, loadedFrom: nil),
      [1] + common([1, 0x7A, 0x52, 0, 1, 0x78, 16, 1, 0x1B], isLoaded: true)
        + rule(common: 0, loadedFrom: 32),
    ]
  }

  /// What the rules have in common: DW_CFA_def_cfa rsp + 8, DW_CFA_offset of the return address at cfa - 8; padded to 32
  /// bytes.
  private static func common(_ head: [UInt8], isLoaded: Bool = false) -> [UInt8] {
    let body = head + [0x0C, 7, 8, 0x90, 1]
    let padded = body + [UInt8](repeating: 0, count: 24 - body.count)
    return UInt32(28).inputBytes + UInt32(isLoaded ? 0 : UInt32.max).inputBytes + padded
  }

  /// For all of the program. Where it is loaded its place counts, and numbers are shorter.
  private static func rule(common: UInt32, loadedFrom place: UInt32?) -> [UInt8] {
    let remember: [UInt8] = [0x0A, 0x41, 0x0E, 16, 0x0B, 0, 0, 0]
    guard let place else {
      return UInt32(28).inputBytes + common.inputBytes + UInt64(0).inputBytes
        + UInt64(SectionFile.memorySize).inputBytes + remember
    }
    let here = UInt32(SectionFile.start) + place + 8
    return UInt32(20).inputBytes + (place + 4).inputBytes + (0 &- here).inputBytes
      + UInt32(SectionFile.memorySize).inputBytes + [0] + remember.dropLast()
  }
}
