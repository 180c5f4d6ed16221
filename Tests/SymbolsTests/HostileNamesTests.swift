// Damaged files of the rarer kinds by the thousand: without section headers, mini debug information, perf maps.

import Linux
import StallCore
import Symbols
import Testing

@Suite struct HostileNamesTests {
  private static let extremes: [UInt64] = [
    0, 1, 2, 0x7F, 0xFF, 0xFFFF, 0x7FFF_FFFF, 0xFFFF_FFFF, 1 << 63, .max,
  ]

  /// Up to four words of the first `hot` bytes overwritten.
  private func mutated(
    _ sound: [UInt8], hot: Int, _ generator: inout SeededGenerator
  ) -> [UInt8] {
    var bytes = sound
    for _ in 0...Int.random(in: 0..<4, using: &generator) {
      let width = [1, 2, 4, 8].randomElement(using: &generator) ?? 1
      let position = Int.random(in: 16...(hot - width), using: &generator) / width * width
      let value =
        Bool.random(using: &generator)
        ? Self.extremes.randomElement(using: &generator) ?? 0 : generator.next()
      for byte in 0..<width { bytes[position + byte] = UInt8(truncatingIfNeeded: value >> UInt64(8 * byte)) }
    }
    return bytes
  }

  /// A module of one segment at 0 and its dynamic tables, without section headers.
  private static func dynamicFile(hash: UInt64) -> [UInt8] {
    func word<Word: FixedWidthInteger>(_ value: Word) -> [UInt8] {
      (0..<Word.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    var file: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1] + [UInt8](repeating: 0, count: 9)
    file += word(UInt16(3)) + word(UInt16(62)) + word(UInt32(1)) + word(UInt64(0)) + word(UInt64(64))
    file += word(UInt64(0)) + word(UInt32(0)) + word(UInt16(64)) + word(UInt16(56)) + word(UInt16(2))
    file += [UInt8](repeating: 0, count: 6)
    for (type, offset, size) in [(1, 0, 0x1000), (2, 0xB0, 0x60)] as [(UInt32, UInt64, UInt64)] {
      file += word(type) + word(UInt32(5)) + word(offset) + word(offset) + word(offset)
      file += word(size) + word(size) + word(UInt64(8))
    }
    // DT_STRTAB, DT_SYMTAB, DT_STRSZ, and one of the hash tables; then those.
    let entries: [(UInt64, UInt64)] = [(5, 0x200), (6, 0x180), (10, 0x20), (hash, 0x120), (0, 0), (0, 0)]
    for (tag, value) in entries { file += word(tag) + word(value) }
    file += [UInt8](repeating: 0, count: 0x120 - file.count)
    if hash == 4 {
      file += word(UInt32(1)) + word(UInt32(3)) + [UInt8](repeating: 0, count: 16)
    } else {
      file += word(UInt32(1)) + word(UInt32(1)) + word(UInt32(1)) + word(UInt32(0)) + word(UInt64(0))
      file += word(UInt32(1)) + word(UInt32(2)) + word(UInt32(3))
    }
    file += [UInt8](repeating: 0, count: 0x180 - file.count + 24)
    for (name, address) in [(1, 0x800), (5, 0x900)] as [(UInt32, UInt64)] {
      file += word(name) + [0x12, 0] + word(UInt16(1)) + word(address) + word(UInt64(0x80))
    }
    file += [UInt8](repeating: 0, count: 0x200 - file.count) + Array("\0one\0two\0".utf8)
    return file + [UInt8](repeating: 0x90, count: 0x1000 - file.count - 9)
  }

  @Test(
    "SYM-24: damaged files without section headers have an outcome", arguments: [4, 0x6FFF_FEF5] as [UInt64])
  func filesWithoutSectionHeaders(hash: UInt64) throws {
    let sound = Self.dynamicFile(hash: hash)
    #expect(try symbolIndex(of: memoryFile(sound)).match(0x97F)?.rawName == "two")
    var generator = SeededGenerator(state: hash)
    var outcomes: [String: Int] = [:]
    for _ in 0..<4000 {
      let file = try memoryFile(mutated(sound, hot: 0x210, &generator))
      do throws(SymbolFailure) {
        let index = try symbolIndex(of: file)
        _ = index.match(generator.next() & 0xFFF)
        outcomes["index", default: 0] += 1
      } catch { outcomes["\(error)", default: 0] += 1 }
    }
    #expect(outcomes["index", default: 0] > 500)
    #expect(outcomes["damaged", default: 0] > 20)
  }

  @Test func perfMaps() throws {
    var generator = SeededGenerator(state: 8)
    let sound = Array((0..<20).map { "\(String(0x1000 + 8 * $0, radix: 16)) 20 f\($0)\n" }.joined().utf8)
    let letters = Array("0123456789abcdefx \n\0ffffffffffffffff".utf8)
    var entries = 0
    for _ in 0..<2000 {
      var bytes = sound
      for _ in 0..<Int.random(in: 1..<20, using: &generator) {
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] =
          letters.randomElement(using: &generator) ?? 0
      }
      let file = try memoryFile(bytes)
      let map = try PerfMap(descriptor: file.rawValue, limitBytes: Int.random(in: 1..<400, using: &generator))
      entries += map.count
      _ = map.name(for: 0x1000 + generator.next() & 0xFF)
      _ = map.name(for: generator.next())
    }
    #expect(entries > 10_000)
  }
}
