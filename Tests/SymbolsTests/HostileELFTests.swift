// Damaged ELF files by the thousand: each gives an index or a refusal, none a crash.

import CLinux
import Linux
import StallCore
import Symbols
import Testing

/// SplitMix64 (Steele, Lea, Flood 2014): the same numbers on every run.
struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    return value ^ value >> 31
  }
}

@Suite struct HostileELFTests {
  private static let sound: [UInt8] = {
    var builder = ElfBuilder()
    builder.add(
      (0..<12).map { TestSymbol(name: "function\($0)", address: 0x1000 + 64 * UInt64($0), size: 48) })
    let table = builder.add(
      [
        TestSymbol(name: "exported", address: 0x1000, size: 8),
        TestSymbol(name: "imported", address: 0, size: 0, section: 0),
      ], type: 11)
    builder.addLinkageTable(symbols: [2], dynamicTable: table)
    return builder.bytes
  }()

  private static let extremes: [UInt64] = [
    0, 1, 2, 3, 0x7F, 0xFF, 0xFFFF, 0x7FFF_FFFF, 0xFFFF_FFFF, 1 << 63, .max,
  ]

  /// Overwrites up to four fields, with extreme or random values, in headers and tables alike; cuts some files.
  private static func mutated(_ generator: inout SeededGenerator) -> [UInt8] {
    var bytes = sound
    for _ in 0...Int.random(in: 0..<4, using: &generator) {
      let width = [1, 2, 4, 8].randomElement(using: &generator) ?? 1
      let isInHeader = Bool.random(using: &generator)
      let end = isInHeader ? 64 : bytes.count
      let position = Int.random(in: 0...(end - width), using: &generator) / width * width
      let value =
        Bool.random(using: &generator) ? extremes.randomElement(using: &generator) ?? 0 : generator.next()
      for byte in 0..<width { bytes[position + byte] = UInt8(truncatingIfNeeded: value >> UInt64(8 * byte)) }
    }
    // The identification stays, or nothing behind it would be reached.
    if Int.random(in: 0..<8, using: &generator) != 0 { bytes.replaceSubrange(0..<16, with: sound[0..<16]) }
    if Int.random(in: 0..<16, using: &generator) == 0 {
      bytes.removeLast(Int.random(in: 1..<bytes.count, using: &generator))
    }
    return bytes
  }

  @Test("SYM-24: every damaged file has an outcome") func everyDamagedFileHasAnOutcome() throws {
    var generator = SeededGenerator(state: 1)
    var indexed = 0
    var failures: [SymbolFailure: Int] = [:]
    for _ in 0..<20_000 {
      let file = try memoryFile(Self.mutated(&generator))
      do throws(SymbolFailure) {
        let index = try symbolIndex(of: file)
        for address in [0, 0x1000, 0x1010, 0x1fff, 0x10018, UInt64.max, generator.next()] {
          _ = index.match(address)
        }
        indexed += 1
      } catch { failures[error, default: 0] += 1 }
    }
    #expect(indexed > 5000)
    #expect(failures[.damaged, default: 0] > 500)
    #expect(failures[.notELF, default: 0] > 100)
  }

  @Test("SYM-24: functions nested without end get no name") func functionsNestedWithoutEndGetNoName() throws {
    var builder = ElfBuilder()
    builder.add(
      (0..<5000).map {
        TestSymbol(name: "f", address: 0x1000 + UInt64($0), size: 0x8000 - 2 * UInt64($0 % 16384))
      })
    let index = try symbolIndex(of: memoryFile(builder.bytes))
    #expect(index.match(0x1000 + 0x7F00) == nil)
  }

  @Test func aNameLikeTheWholeTableIsCut() throws {
    var builder = ElfBuilder()
    builder.add([TestSymbol(name: String(repeating: "x", count: 100_000), address: 0x1000, size: 8)])
    let index = try symbolIndex(of: memoryFile(builder.bytes))
    #expect(index.match(0x1000)?.rawName.bytes.count == 16_384)
  }
}
