// Reading `/proc/PID/maps`, also as a hostile process can make it look.

import Linux
import Testing

@Suite struct MemoryMapTests {
  private func parse(_ text: String) -> MemoryMap { MemoryMap(parsing: Array(text.utf8)) }

  @Test func readsEveryField() throws {
    let map = parse(
      """
      555555554000-555555556000 r-xp 00002000 103:02 4456 \("                       ")/usr/bin/cat
      7ffe00000000-7ffe00021000 rw-s 00000000 00:00 0                          [stack]
      7fff00000000-7fff00001000 ---p 00000000 00:00 0\u{20}
      ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]

      """)
    #expect(map.regions.count == 4)
    let first = try #require(map.regions.first)
    #expect(first.start == 0x5555_5555_4000 && first.end == 0x5555_5555_6000)
    #expect(first.permissions == [.read, .execute])
    #expect(first.fileOffset == 0x2000)
    #expect(first.identity == FileIdentity(deviceMajor: 0x103, deviceMinor: 2, inode: 4456))
    #expect(
      map.regions.map { String(decoding: $0.path, as: UTF8.self) } == [
        "/usr/bin/cat", "[stack]", "", "[vsyscall]",
      ])
    #expect(map.regions[1].permissions == [.read, .write, .shared])
    #expect(map.regions.map(\.hasFile) == [true, false, false, false])
  }

  @Test(
    "PROC-04, PROC-05: a path keeps its blanks and its escapes",
    arguments: [
      ("/tmp/my app  dir/a", "/tmp/my app  dir/a", false),
      ("/tmp/ends in blanks  ", "/tmp/ends in blanks  ", false),
      ("/usr/lib/x.so (deleted)", "/usr/lib/x.so", true),
      ("/x (deleted) (deleted)", "/x (deleted)", true),
      (#"/nl\012name.so"#, #"/nl\012name.so"#, false),
      ("/tab\there", "/tab\there", false),
    ])
  func keepsPaths(_ printed: String, _ path: String, _ isDeleted: Bool) throws {
    let region = try #require(parse("1000-2000 r--p 00000000 08:01 7    \(printed)\n").regions.first)
    #expect(String(decoding: region.path, as: UTF8.self) == path)
    #expect(region.isDeleted == isDeleted)
  }

  @Test("PROC-07: a path keeps bytes that are no text") func keepsBytesThatAreNoText() {
    let map = MemoryMap(parsing: Array("1000-2000 r--p 0 08:01 7 /".utf8) + [0xFF, 0xFE, 0x0A])
    #expect(map.regions.first?.path == [0x2F, 0xFF, 0xFE])
  }

  @Test(arguments: [
    "", "\n", "-", "1000-2000 r--p 0 08:01 7", "1000-2000", "1000-2000 r--p 0 08:01\n",
    "2000-1000 r--p 0 08:01 7\n",
    "1000-2000 r--\n", "10000000000000000-2 r--p 0 08:01 7\n",
    "1000-2000 r--p 0 08:01 99999999999999999999\n",
    "1000-2000 r--p 0 fffffffff:01 7\n", "x-y r--p 0 08:01 7\n", "-2000 r--p 0 08:01 7\n",
    "1000-2000 r--px0 08:01 7\n",
  ])
  func leavesOutWhatMakesNoSense(_ text: String) { #expect(parse(text).regions.isEmpty) }

  @Test func leavesOutOverlaps() {
    let map = parse(
      "1000-3000 r--p 0 0:0 0\n2000-4000 r--p 0 0:0 0\n3000-4000 r--p 0 0:0 0\n0-1000 r--p 0 0:0 0\n")
    #expect(map.regions.map(\.start) == [0x1000, 0x3000])
  }

  @Test(arguments: [
    (0x0FFF, nil), (0x1000, 0x1000), (0x1FFF, 0x1000), (0x2000, nil), (0x3000, 0x3000), (.max, nil),
  ])
  func findsTheRegion(_ address: UInt64, _ start: UInt64?) {
    let map = parse("1000-2000 r--p 0 0:0 0\n3000-4000 r--p 0 0:0 0\n")
    #expect(map.region(containing: address)?.start == start)
  }

  @Test func hasALimit() {
    let text = (0..<9).map { "\($0)000-\($0 + 1)000 r--p 0 0:0 0\n" }.joined()
    #expect(MemoryMap(parsing: Array(text.utf8), limit: 7).regions.count == 7)
  }
}
