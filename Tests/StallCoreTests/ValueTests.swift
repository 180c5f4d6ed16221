// Small values: names with any bytes, descriptor sets, instants, fingerprints, two looks at one thread.

import StallCore
import Testing

@Suite struct ByteStringTests {
  @Test(
    arguments: [
      (Array("plain ü 漢".utf8), "plain ü 漢"),
      ([0x61, 0x1B, 0x5D, 0x30, 0x3B, 0x78, 0x07], #"a\x1b]0;x\x07"#),
      ([0xFF, 0xFE, 0x20, 0x63, 0x61, 0x66, 0xC3], #"\xff\xfe caf\xc3"#),
      (Array("\u{202e}x\u{85}y\u{2028}".utf8), #"\u{202e}x\u{85}y\u{2028}"#),
      ([0xC0, 0x80], #"\xc0\x80"#),
      ([0xED, 0xA0, 0x80], #"\xed\xa0\x80"#),
      ([0xF4, 0x90, 0x80, 0x80], #"\xf4\x90\x80\x80"#),
      (Array("line\nbreak\ttab".utf8), #"line\x0abreak\x09tab"#),
    ] as [([UInt8], String)])
  func escapesWhatCouldSteerATerminal(_ bytes: [UInt8], _ expected: String) {
    #expect(ByteString(bytes).escaped == expected)
    #expect(ByteString(bytes).isPlain == (Array(expected.utf8) == bytes))
  }

  @Test func backslashIsNotPlainBecauseItCouldBeAnEscape() {
    #expect(!ByteString(#"\x41"#).isPlain)
  }
}

@Suite struct DescriptorSetTests {
  @Test func keepsTheLowest() {
    let set = DescriptorSet((0..<100).reversed())
    #expect(set.count == DescriptorSet.capacity)
    #expect(set.elements == Array(0..<64))
  }

  @Test func ignoresNegativeAndDouble() {
    #expect(DescriptorSet([5, -1, 3, 5]).elements == [3, 5])
  }

  @Test func intersects() {
    #expect(DescriptorSet([1, 3, 5, 7]).intersection(DescriptorSet([3, 4, 7, 9])).elements == [3, 7])
    #expect(DescriptorSet([1]).intersection(DescriptorSet([2])).isEmpty)
  }
}

@Suite struct FingerprintTests {
  private func stack(_ symbols: [String], address: UInt64) -> Stack {
    let frames = symbols.map { symbol in
      var frame = Frame(programCounter: address, trust: .exact)
      frame.module = ModuleReference(path: "/usr/lib/libx.so", buildID: nil)
      frame.symbol = ByteString(symbol)
      return frame
    }
    return Stack(
      threadID: 1, threadName: "t", role: .main, way: .ptrace, stoppedFor: .zero, end: .root, frames: frames)
  }

  @Test func samePlaceAtOtherAddresses() {
    #expect(Fingerprint(stack(["a", "b"], address: 1)) == Fingerprint(stack(["a", "b"], address: 2)))
    #expect(Fingerprint(stack(["a", "b"], address: 1)) != Fingerprint(stack(["ab"], address: 1)))
    #expect(Fingerprint(stack([], address: 1)).text == "cbf29ce484222325")
  }
}

@Suite struct StandingStillTests {
  private func sleeping(_ activity: Activity, arrivals: UInt64, departures: UInt64) -> ThreadObservation {
    ThreadObservation(
      at: Instant(nanoseconds: 0), state: .sleeping, activity: activity, cpuTime: .zero, runQueueDelay: .zero,
      timesScheduled: arrivals, voluntarySwitches: departures)
  }

  /// The kernel does not count every arrival.
  @Test(arguments: [Activity.unknown, .blockedOutsideCall(stackPointer: 0x7000, programCounter: 0x1000)])
  func whoHasComeOrGoneHasMoved(_ activity: Activity) {
    let first = sleeping(activity, arrivals: 5, departures: 4)
    #expect(sleeping(activity, arrivals: 5, departures: 4).hasNotMoved(since: first))
    #expect(!sleeping(activity, arrivals: 6, departures: 4).hasNotMoved(since: first))
    #expect(!sleeping(activity, arrivals: 5, departures: 5).hasNotMoved(since: first))
  }
}
