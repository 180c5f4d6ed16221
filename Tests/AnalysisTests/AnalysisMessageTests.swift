// What travels between the report thread and its analyst.

import Linux
import StallCore
import Testing

@testable import Analysis

@Suite struct AnalysisMessageTests {
  private static var sample: Analysis {
    let module = ModuleReference(path: "/usr/lib/lib one.so", buildID: "00ff", isDeleted: true)
    var first = Frame(programCounter: .max, trust: .framePointer)
    first.module = module
    first.moduleOffset = 0x1000
    first.symbol = ByteString([0xFF, 0x1B, 0x00])
    first.rawSymbol = "_ZN1aE"
    first.symbolOffset = 7
    first.file = "/src/a b.c"
    first.line = 42
    first.isInlined = true
    var second = Frame(programCounter: 0, trust: .exact)
    second.isSignalFrame = true
    var analysis = Analysis(
      end: .missingBytes, frames: [first, second, Frame(programCounter: 5, trust: .scanned)])
    analysis.frames[2].module = module
    analysis.remarks = ["a module is stripped", ""]
    return analysis
  }

  @Test func analysisComesBackAsItWas() throws {
    let back = try Analysis(decoding: Self.sample.encoded)
    #expect(back.frames == Self.sample.frames)
    #expect(back.end == .missingBytes)
    #expect(back.remarks == Self.sample.remarks)
  }

  /// An analyst may be in the hands of whoever wrote the target.
  @Test func damagedMessagesAreRefusedOrShownButNeverTrap() throws {
    let sound = Self.sample.encoded
    var generator = SplitMix64(state: 1)
    for _ in 0..<20_000 {
      var bytes = sound
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
        case 1: bytes.removeSubrange(place...)
        default: bytes.insert(0xFF, at: place)
        }
        if bytes.isEmpty { break }
      }
      _ = try? Analysis(decoding: bytes)
      _ = try? AnalystMessage(decoding: bytes)
      _ = try? AnalystOrder(decoding: bytes)
    }
  }

  @Test func lengthsAreNotBelieved() {
    var writer = MessageWriter()
    writer.append(Array("root".utf8))
    writer.append(UInt64(Int64.max))
    let bytes = writer.bytes
    #expect(throws: MessageReader.Malformed.self) { try Analysis(decoding: bytes) }
  }
}

/// The same numbers in each run.
struct SplitMix64: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}
