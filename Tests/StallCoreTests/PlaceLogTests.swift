// Which of many episodes are reported, and that all of them are counted.

import StallCore
import Testing

private let begin = Instant(nanoseconds: 1_000_000_000)

private func stack(_ symbols: [ByteString?], end: WalkEnd = .root) -> Stack {
  Stack(
    threadID: 1, threadName: "viewer", role: .main, way: .ptrace, stoppedFor: .zero, end: end,
    frames: symbols.enumerated().map { index, symbol in
      var frame = Frame(programCounter: 0x1000 + UInt64(index), trust: .exact)
      frame.module = ModuleReference(path: symbol == "read" ? "/lib/libc.so.6" : "/opt/viewer", buildID: nil)
      frame.symbol = symbol
      frame.moduleOffset = symbol == nil ? 0x10 : nil
      return frame
    })
}

/// A watch that says what it judged of episodes that come one after the other.
private struct Judged {
  var log: PlaceLog
  private(set) var now = begin
  private(set) var ongoing: [Repetition] = []
  /// With the moment.
  private(set) var ended: [(at: Duration, says: Repetition)] = []
  private var episodes = 0

  init(cooldown: Duration = .seconds(5)) { log = PlaceLog(cooldown: cooldown) }

  mutating func wait(_ duration: Duration) { now = now + duration }

  /// A statement at 500 ms and at each doubling, and one at the end.
  mutating func stall(
    _ milliseconds: Int64, at stack: Stack?, kind: EpisodeStatement.Kind = .stall
  ) {
    episodes += 1
    let start = now
    var threshold = Int64(500)
    while threshold < milliseconds {
      now = start + .milliseconds(threshold)
      if let said = judge(threshold, stack, kind, isLast: false) { ongoing.append(said) }
      threshold *= 2
    }
    now = start + .milliseconds(milliseconds)
    if let said = judge(milliseconds, stack, kind, isLast: true) { ended.append((now - begin, said)) }
  }

  private mutating func judge(
    _ milliseconds: Int64, _ stack: Stack?, _ kind: EpisodeStatement.Kind, isLast: Bool
  ) -> Repetition? {
    log.judge(
      EpisodeStatement(
        id: episodes, kind: kind, isLast: isLast, duration: .milliseconds(milliseconds), stack: stack,
        cause: .sleep), at: now)
  }
}

@Suite struct PlaceLogTests {
  private let place = stack(["read", "Report::load", "main"])

  @Test("OUT-06: 2,000 stalls of 600 ms at one place give few reports and exact sums")
  func aFloodIsFoldedAndCountedExactly() throws {
    var watch = Judged()
    for _ in 0..<2_000 {
      watch.stall(600, at: place)
      watch.wait(.milliseconds(400))
    }
    // 5, 10, 20 … 1,280 s apart, in 2,000 s.
    #expect(watch.ended.count == 9)
    let distances = zip(watch.ended, watch.ended.dropFirst()).map { ($1.at - $0.at).seconds.rounded() }
    #expect(distances == [5, 10, 20, 40, 80, 160, 320, 640])
    #expect(watch.ended.last?.says.quiet == .seconds(1_280))
    let told = watch.ended.map { 1 + $0.says.suppressed }.reduce(0, +)
    #expect(told == watch.ended.last?.says.count)
    #expect(watch.log.suppressedStalls == 2_000 - 9)
    let totals = try #require(watch.log.longestPlaces(10).first)
    #expect(totals.count == 2_000)
    #expect(totals.time == .milliseconds(2_000 * 600))
    #expect(totals.name == "Report::load")
    #expect(watch.log.takeLimitChange() == nil)
  }

  @Test("OUT-06: an episode that is told is told to its end, one that is not told may be later")
  func episodesAreToldWhole() {
    var watch = Judged()
    watch.stall(600, at: place)
    watch.stall(10_000, at: place)
    // Four times 600 ms are reached at the fourth statement: 500, 1,000, 2,000, 4,000.
    #expect(watch.ongoing.count == 1 + 2)
    #expect(watch.ended.count == 2)
    watch.stall(9_000, at: place)
    #expect(watch.ended.count == 2)
  }

  @Test func aRepeatSaysWhenTheNextOneComes() {
    var watch = Judged()
    watch.stall(600, at: place)
    watch.wait(.seconds(30))
    watch.stall(600, at: place)
    watch.stall(600, at: place)
    watch.wait(.seconds(30))
    watch.stall(600, at: place)
    #expect(
      watch.ended.map(\.says) == [
        Repetition(count: 1, suppressed: 0, quiet: .seconds(5)),
        Repetition(count: 2, suppressed: 0, quiet: .seconds(10)),
        Repetition(count: 4, suppressed: 1, quiet: .seconds(20)),
      ])
    #expect(watch.ongoing.allSatisfy { $0.quiet == nil })
  }

  @Test func noPlaceStaysUnheardForMoreThanAnHour() throws {
    var watch = Judged()
    for _ in 0..<86_400 {
      watch.stall(600, at: place)
      watch.wait(.milliseconds(400))
    }
    #expect(watch.ended.last?.says.quiet == .seconds(3_600))
    #expect(watch.ended.count == 33)
    watch.wait(.seconds(3_600))
    watch.stall(600, at: place)
    #expect(watch.ended.last?.says.quiet == .seconds(5))
  }

  @Test func placesAreToldApart() {
    var watch = Judged()
    for name in ["open", "close", "open"] { watch.stall(600, at: stack(["read", ByteString(name), "main"])) }
    #expect(watch.ended.count == 2)
    #expect(watch.log.longestPlaces(1).map(\.name) == ["open"])
    #expect(watch.log.longestPlaces(10).count == 2)
  }

  /// They have one fingerprint, and read differently.
  @Test func functionsWithoutNamesAreToldApartByWhereTheyLie() {
    var watch = Judged()
    let nameless = stack(["read", nil, "main"])
    var other = nameless
    other.frames[1].moduleOffset = 0x20
    watch.stall(600, at: nameless)
    watch.stall(600, at: other)
    watch.stall(600, at: nameless)
    #expect(watch.ended.count == 2)
    #expect(Fingerprint(nameless) == Fingerprint(other))
  }

  @Test("A stack that is missing or cut short says nothing of the place", arguments: [true, false])
  func weakPlacesAreNotFolded(hasFrames: Bool) {
    var watch = Judged()
    let weak = hasFrames ? stack(["read", nil], end: .noRule) : stack([], end: .notCaptured)
    for _ in 0..<20 { watch.stall(600, at: weak) }
    #expect(watch.ended.count == 20)
    #expect(watch.ended.allSatisfy { $0.says.quiet == nil && $0.says.suppressed == 0 })
    #expect(watch.log.longestPlaces(1).first?.count == (hasFrames ? 20 : nil))
  }

  @Test func withoutCooldownEverythingIsReported() {
    var watch = Judged(cooldown: .zero)
    for _ in 0..<3_000 { watch.stall(600, at: place) }
    #expect(watch.ended.count == 3_000)
    #expect(watch.ended.allSatisfy { $0.says.quiet == nil })
    #expect(watch.ended.last?.says.count == 3_000)
  }

  @Test("OUT-06: a day has so many reports, with one notice when they are reached and one when that is over")
  func theDayIsLimited() throws {
    var watch = Judged()
    var changes: [DailyLimit.Change] = []
    for index in 0..<1_500 {
      watch.stall(600, at: stack([ByteString("function\(index)"), "main"]))
      if let change = watch.log.takeLimitChange() { changes.append(change) }
    }
    #expect(watch.ended.count == 1_000)
    #expect(watch.log.suppressedStalls == 500)
    guard case .reached(1_000, let lasts) = try #require(changes.first), changes.count == 1 else {
      Issue.record("\(changes)")
      return
    }
    #expect(lasts == .seconds(86_400) - .milliseconds(999 * 600))
    // What is much longer than all before passes.
    watch.stall(2_400, at: stack(["other", "main"]))
    #expect(watch.ended.count == 1_001)
    #expect(watch.log.takeLimitChange() == nil)

    watch.wait(lasts)
    watch.stall(600, at: stack(["function1", "main"]))
    #expect(watch.log.takeLimitChange() == .lifted(suppressed: 500))
    #expect(watch.ended.count == 1_002)
  }

  @Test func kindsOfEpisodesAreFoldedApart() {
    var watch = Judged()
    for _ in 0..<3 {
      watch.stall(600, at: place)
      watch.stall(600, at: place, kind: .unverified)
      watch.stall(600, at: nil, kind: .saturation(thread: 1))
      watch.stall(600, at: nil, kind: .saturation(thread: 2))
    }
    #expect(watch.ended.count == 4)
    #expect(watch.log.suppressedStalls == 2)
    #expect(watch.log.longestPlaces(10).map(\.count) == [3])
  }

  @Test func forgottenPlacesCostNoTotals() {
    var watch = Judged()
    for index in 0..<1_200 { watch.stall(600, at: stack([ByteString("function\(index)"), "main"])) }
    watch.stall(9_000, at: place)
    #expect(watch.log.longestPlaces(10).first?.time == .seconds(9))
    #expect(watch.log.longestPlaces(5_000).count == 1_000)
  }
}
