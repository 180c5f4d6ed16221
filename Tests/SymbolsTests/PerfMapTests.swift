// Names of generated code: overlaps, damaged lines, and files larger than what is read.

import Linux
import StallCore
import Symbols
import Testing

@Suite struct PerfMapTests {
  private func map(_ text: String, limitBytes: Int = PerfMap.defaultLimit) throws -> PerfMap {
    try map(Array(text.utf8), limitBytes: limitBytes)
  }

  private func map(_ bytes: [UInt8], limitBytes: Int = PerfMap.defaultLimit, deadline: Int64 = .max) throws
    -> PerfMap
  {
    let file = try memoryFile(bytes)
    return try PerfMap(descriptor: file.rawValue, limitBytes: limitBytes, deadline: deadline)
  }

  private func name(_ map: PerfMap, _ address: UInt64) -> String? { map.name(for: address)?.name.escaped }

  @Test func readsWhatRuntimesWrite() throws {
    let map = try map(
      "7f0010 20 LazyCompile:~run app.js:1:1\n0x7f0040 0x8 Function: a b\n7f0100 10 last\n7f0200 10 half")
    #expect(map.count == 3)
    #expect(name(map, 0x7f000f) == nil)
    #expect(name(map, 0x7f0010) == "LazyCompile:~run app.js:1:1")
    #expect(name(map, 0x7f002f) == "LazyCompile:~run app.js:1:1")
    #expect(name(map, 0x7f0030) == nil)
    #expect(name(map, 0x7f0047) == "Function: a b")
    #expect(map.name(for: 0x7f0047)?.start == 0x7f0040)
    #expect(name(map, 0x7f010f) == "last")
    #expect(name(map, 0x7f0200) == nil)
    #expect(name(map, .max) == nil)
  }

  @Test func theLaterLineIsRight() throws {
    let map = try map("1000 100 old\n1040 20 moved\n1080 100 tail\n10f0 8 newest\n")
    let expected: [(UInt64, String?)] = [
      (0x1000, "old"), (0x103f, "old"), (0x1040, "moved"), (0x105f, "moved"), (0x1060, "old"),
      (0x107f, "old"),
      (0x1080, "tail"), (0x10ef, "tail"), (0x10f0, "newest"), (0x10f8, "tail"), (0x117f, "tail"),
      (0x1180, nil),
    ]
    for (address, wanted) in expected { #expect(name(map, address) == wanted) }
    #expect(map.name(for: 0x1060)?.start == 0x1000)
  }

  @Test func damagedLinesAreLeftOut() throws {
    let lines = [
      "", "x", "1000", "1000 10", "1000 10 ", "zz 10 a", "-1000 10 b", "1000 0 empty",
      "ffffffffffffffff 10 wraps",
      "1000 10000000000000000 large", "  1000 10 blanks", "2000 10 \u{1b}[2J", "3000 8 good", "",
    ]
    let map = try map(lines.joined(separator: "\n"))
    #expect(map.count == 2)
    #expect(name(map, 0x2000) == "\\x1b[2J")
    #expect(name(map, 0x3000) == "good")
    let long = try self.map("1000 10 " + String(repeating: "n", count: 200_000) + "\n2000 10 next\n")
    #expect(long.name(for: 0x1000)?.name.bytes.count == 1024)
    #expect(name(long, 0x2000) == "next")
  }

  @Test("JIT-04: of a large file the end is read, within its time") func ofALargeFileTheEndIsRead() throws {
    let text = (0..<10_000).map { "\(String(0x10000 + 16 * $0, radix: 16)) 10 function\($0)\n" }.joined()
    let whole = try map(text)
    #expect(whole.count == 10_000)
    #expect(!whole.isTruncated)
    #expect(name(whole, 0x10000) == "function0")
    let end = try map(text, limitBytes: 10_000)
    #expect(end.isTruncated)
    #expect(end.byteCount < 60_000)
    #expect(name(end, 0x10000) == nil)
    #expect(name(end, 0x10000 + 16 * 9_999) == "function9999")
    #expect(
      (0..<10_000).allSatisfy { number in
        let found = name(end, 0x10000 + 16 * UInt64(number))
        return found == nil || found == "function\(number)"
      })
    let late = try map(Array(text.utf8), deadline: 1)
    #expect(late.isTruncated && late.count == 0)
  }

  /// Against the rule applied line by line.
  @Test func agreesWithTheSimpleWay() throws {
    var generator = SeededGenerator(state: 3)
    for _ in 0..<50 {
      var owner = [String?](repeating: nil, count: 300)
      var text = ""
      for number in 0..<40 {
        let start = Int.random(in: 0..<250, using: &generator)
        let size = Int.random(in: 1..<50, using: &generator)
        text += "\(String(0x4000 + start, radix: 16)) \(String(size, radix: 16)) f\(number)\n"
        for place in start..<start + size { owner[place] = "f\(number)" }
      }
      let map = try map(text)
      for place in owner.indices { #expect(name(map, 0x4000 + UInt64(place)) == owner[place]) }
    }
  }
}
