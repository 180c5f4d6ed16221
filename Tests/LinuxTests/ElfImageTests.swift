// What is read of ELF headers: where a file is loaded, what identifies it, and that damage does no harm.

import Linux
import Testing

@Suite struct ElfImageTests {
  /// One program header of a made-up file.
  struct Header: Sendable {
    var type: UInt64 = 1
    var flags: UInt64 = 4
    var offset: UInt64
    var address: UInt64
    var size: UInt64
    var alignment: UInt64 = 4096
  }

  private static func bytes(_ value: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }

  private static func file(_ headers: [Header], contents: [UInt8] = []) -> [UInt8] {
    var file: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1] + [UInt8](repeating: 0, count: 9)
    file += bytes(3, 2) + bytes(62, 2) + bytes(1, 4) + bytes(0x1234, 8) + bytes(64, 8) + bytes(0, 8)
    file += bytes(0, 4) + bytes(64, 2) + bytes(56, 2) + bytes(UInt64(headers.count), 2) + bytes(0, 6)
    for header in headers {
      file +=
        bytes(header.type, 4) + bytes(header.flags, 4) + bytes(header.offset, 8) + bytes(header.address, 8)
      file +=
        bytes(header.address, 8) + bytes(header.size, 8) + bytes(header.size, 8) + bytes(header.alignment, 8)
    }
    return file + contents
  }

  private static let identity = FileIdentity(deviceMajor: 8, deviceMinor: 1, inode: 7)

  private static func image(_ file: [UInt8]) throws(ElfError) -> ElfImage {
    try ElfImage(pages: FilePages(contents: file), identity: identity)
  }

  private static func region(_ start: UInt64, offset: UInt64, executable: Bool = true) -> MemoryRegion {
    let permissions = executable ? "r-x" : "r--"
    let range = "\(String(start, radix: 16))-\(String(start + 0x1000, radix: 16))"
    let line = "\(range) \(permissions)p \(String(offset, radix: 16)) 08:01 7 /x\n"
    return MemoryMap(parsing: Array(line.utf8)).regions[0]
  }

  struct Layout: Sendable, CustomStringConvertible {
    var description: String
    var headers: [Header]
    var start: UInt64
    var offset: UInt64
    var bias: UInt64
  }

  static let layouts = [
    Layout(
      description: "position independent, offset equals address",
      headers: [
        Header(offset: 0, address: 0, size: 0x800),
        Header(flags: 5, offset: 0x1000, address: 0x1000, size: 0x800),
      ],
      start: 0x7F00_0000_1000, offset: 0x1000, bias: 0x7F00_0000_0000),
    Layout(
      description: "lld: address runs a page ahead of the offset",
      headers: [
        Header(offset: 0, address: 0, size: 0x6B4),
        Header(flags: 5, offset: 0x6C0, address: 0x16C0, size: 0x1000),
      ],
      start: 0x7F00_0000_1000, offset: 0, bias: 0x7F00_0000_0000),
    Layout(
      description: "lld: the second page of such a segment, split off",
      headers: [
        Header(offset: 0, address: 0, size: 0x6B4),
        Header(flags: 5, offset: 0x6C0, address: 0x16C0, size: 0x1000),
      ],
      start: 0x7F00_0000_2000, offset: 0x1000, bias: 0x7F00_0000_0000),
    Layout(
      description: "fixed address",
      headers: [Header(flags: 5, offset: 0, address: 0x40_0000, size: 0x1800)],
      start: 0x40_0000, offset: 0, bias: 0),
    Layout(
      description: "prelinked library",
      headers: [Header(flags: 5, offset: 0, address: 0x3000_0000, size: 0x1800)],
      start: 0x7F00_0000_0000, offset: 0, bias: 0x7F00_0000_0000 &- 0x3000_0000),
  ]

  @Test(
    "SYM-01, SYM-17, X-03: the load bias is found for every layout of segments", arguments: layouts)
  func findsTheLoadBias(_ layout: Layout) throws {
    let image = try Self.image(Self.file(layout.headers))
    #expect(image.loadBias(of: Self.region(layout.start, offset: layout.offset)) == layout.bias)
  }

  @Test func hasNoLoadBiasOutsideItsSegments() throws {
    let image = try Self.image(Self.file([Header(flags: 5, offset: 0, address: 0, size: 0x1000)]))
    #expect(image.loadBias(of: Self.region(0x10000, offset: 0x1000)) == nil)
    let absurd = try Self.image(Self.file([Header(flags: 5, offset: .max, address: .max, size: .max)]))
    #expect(absurd.loadBias(of: Self.region(0x10000, offset: 0)) == nil)
  }

  private static func note(_ name: String, type: UInt64, _ contents: [UInt8]) -> [UInt8] {
    bytes(UInt64(name.utf8.count), 4) + bytes(UInt64(contents.count), 4) + bytes(type, 4) + Array(name.utf8)
      + contents
  }

  @Test func findsTheBuildID() throws {
    let notes =
      Self.note("GNU\0", type: 5, [1, 2, 3, 4]) + Self.note("GNU\0", type: 3, [0x0A, 0xFF, 0x00, 0x12])
    let header = Header(type: 4, offset: 64 + 56, address: 0, size: UInt64(notes.count), alignment: 4)
    #expect(try Self.image(Self.file([header], contents: notes)).buildID == "0aff0012")
  }

  @Test(arguments: [
    note("GNU\0", type: 3, []), note("GNX\0", type: 3, [1, 2, 3, 4]),
    bytes(4, 4) + bytes(0xFFFF_FFFF, 4) + bytes(3, 4),
    bytes(0xFFFF_FFFF, 4) + bytes(4, 4) + bytes(3, 4) + Array("GNU\0".utf8), [1, 2, 3],
  ])
  func hasNoBuildIDInDamagedNotes(_ notes: [UInt8]) throws {
    let header = Header(type: 4, offset: 64 + 56, address: 0, size: UInt64(notes.count), alignment: 4)
    #expect(try Self.image(Self.file([header], contents: notes)).buildID == nil)
  }

  @Test func refusesWhatItCannotRead() throws {
    let good = Self.file([Header(offset: 0, address: 0, size: 0x1000)])
    #expect(throws: ElfError.notElf) { try Self.image([]) }
    #expect(throws: ElfError.notElf) { try Self.image([UInt8](repeating: 0x20, count: 200)) }
    for (position, value, error) in [
      (4, 1, ElfError.foreign), (5, 2, .foreign), (18, 3, .foreign), (54, 0, .damaged), (57, 0xFF, .damaged),
      (39, 0xFF, .damaged), (33, 0x10, .damaged),
    ] as [(Int, UInt8, ElfError)] {
      var file = good
      file[position] = value
      #expect(throws: error) { try Self.image(file) }
    }
  }
}
