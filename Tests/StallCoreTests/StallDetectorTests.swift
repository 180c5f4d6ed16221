// Episodes: what is reported of made-up stalls, and that nothing is reported without one.

import StallCore
import Testing

private typealias Call = SystemCallNumber

@Suite struct StallDetectorTests {
  @Test func sleepInCallbackIsOneEpisodeWithExactTimes() throws {
    var watched = Watched()
    watched.learnEpoll()
    let start = watched.script.now
    watched.script.run(.milliseconds(2))
    watched.script.block(in: Call.clockNanosleep, depth: 2000)
    watched.stay(.milliseconds(800))
    watched.script.run(.milliseconds(1))
    watched.park()
    watched.stay(.seconds(1))

    let ended = try #require(watched.ended.first)
    #expect(watched.ended.count == 1)
    #expect(Set(watched.stalls.map(\.id)) == [1])
    #expect(ended.proof == .didNotMove && ended.isVerified)
    #expect(abs((ended.startedAt - start).milliseconds) < 1)
    #expect(abs(ended.duration.likely.milliseconds - 803) < 1)
    #expect(ended.duration.atLeast <= .milliseconds(803))
    #expect(try #require(ended.duration.atMost) >= .milliseconds(803))
    #expect(ended.stallClass == .blocked)
    let parts = ended.breakdown
    #expect(parts.onCPU + parts.runnable + parts.blocked + parts.blind == ended.duration.likely)
  }

  @Test func ongoingIsSaidOnlyWhenCertain() throws {
    var watched = Watched()
    watched.script.tellsBlockStart = false
    watched.learnEpoll()
    watched.script.wait(.milliseconds(200))
    watched.script.block(in: Call.clockNanosleep, depth: 2000)
    watched.stay(.milliseconds(700))
    guard case .captureAndReport(let stall) = try #require(watched.actions.first) else {
      Issue.record("the first action must be a capture")
      return
    }
    #expect(stall.state == .ongoing)
    #expect(stall.duration.atLeast >= .milliseconds(500))
    #expect(stall.duration.atLeast <= .milliseconds(700))
  }

  @Test("OUT-06: ten minutes of one stall are told at the threshold, at ten doublings and at the end")
  func aVeryLongStallGivesFewRecords() throws {
    var watched = Watched()
    watched.learnEpoll()
    watched.script.block(in: Call.futex, depth: 2000)
    watched.stay(.seconds(600))
    watched.script.run(.milliseconds(1))
    watched.park()
    #expect(watched.actions.count == 12)
    #expect(Set(watched.stalls.map(\.id)) == [1])
    let ended = try #require(watched.ended.first)
    #expect(abs(ended.duration.likely.seconds - 600) < 1)
    #expect(watched.detector.statistics.stalls.count == 1)
    #expect(watched.detector.statistics.spells.atLeast.last?.spells == 1)
  }

  @Test("OUT-06: a long stall is repeated at doublings only") func longStallIsRepeatedAtDoublings() {
    var watched = Watched()
    watched.learnEpoll()
    watched.script.block(in: Call.futex, depth: 2000)
    watched.stay(.seconds(30))
    let ongoing = watched.stalls.filter { $0.state == .ongoing }
    #expect(ongoing.count == 6)
    #expect(watched.ended.isEmpty)
    _ = watched.detector.interrupt(.targetExited)
    #expect(watched.detector.statistics.stalls.count == 1)
  }

  @Test func computingWithoutSleepIsReportedButNotVerified() throws {
    var watched = Watched()
    watched.learnEpoll()
    watched.run(.milliseconds(800))
    watched.park()
    let ended = try #require(watched.ended.first)
    #expect(ended.proof == .neverSlept && !ended.isVerified)
    #expect(abs(ended.duration.likely.milliseconds - 800) < 2)
    #expect(ended.stallClass == .cpu)
  }

  @Test func shortSpellsAreNearMisses() {
    var watched = Watched()
    watched.learnEpoll()
    watched.run(.milliseconds(300))
    watched.park()
    watched.stay(.seconds(1))
    #expect(watched.actions.isEmpty)
    #expect(watched.detector.statistics.nearMisses.contains { abs($0.milliseconds - 300) < 5 })
  }

  /// A busy server parks between looks: no look sees it, the counts do.
  @Test func loadedLoopIsNeverAStall() {
    var watched = Watched()
    watched.learnEpoll()
    for _ in 0..<40 {
      for _ in 0..<5 {
        watched.script.block(in: Call.epollWait, 5)
        watched.script.wait(.milliseconds(1))
        watched.script.run(.milliseconds(9))
      }
      watched.look()
    }
    watched.park()
    #expect(watched.stalls.isEmpty)
    #expect(watched.detector.statistics.doubtful == 1)
  }

  /// An interpreter comes to the same sleep through other frames once it has optimized the loop.
  @Test func sleepFromAChangedStackIsNoStall() {
    var watched = Watched()
    for round in 0..<20 {
      watched.script.block(in: Call.clockNanosleep, depth: round < 8 ? 144 : 0)
      watched.stay(.seconds(1))
      watched.script.run(.milliseconds(20))
    }
    #expect(watched.actions.isEmpty)
  }

  /// … but a sleep in a function of the loop's is one, every time.
  @Test func sleepInASleepLoopIsAStall() {
    var watched = Watched()
    for round in 0..<20 {
      watched.script.block(in: Call.clockNanosleep)
      watched.stay(.seconds(1))
      watched.script.run(.milliseconds(20))
      guard round % 5 == 4 else { continue }
      watched.script.block(in: Call.clockNanosleep, depth: 96)
      watched.stay(.milliseconds(800))
      watched.script.run(.milliseconds(1))
    }
    #expect(watched.ended.count == 3)
    #expect(watched.ended.allSatisfy { $0.isVerified && abs($0.duration.likely.milliseconds - 821) < 3 })
  }

  @Test func stallEndsWhereTheSleepFromAChangedStackBegins() throws {
    var watched = Watched()
    for round in 0..<20 {
      watched.script.block(in: Call.clockNanosleep, depth: round < 8 ? 144 : 0)
      watched.stay(.seconds(1))
      watched.run(.milliseconds(round == 7 ? 800 : 20))
    }
    let ended = try #require(watched.ended.first)
    #expect(watched.ended.count == 1)
    #expect(abs(ended.duration.likely.milliseconds - 800) < 2)
  }

  /// A thread of a pool sleeps now in the poller, now in a lock: nothing of that is a stall.
  @Test func threadWithoutALoopOfItsOwnIsNotJudged() {
    var watched = Watched()
    watched.detector.isBlindToLoop = true
    watched.learnEpoll()
    watched.script.block(in: Call.futex)
    watched.stay(.seconds(10))
    watched.run(.seconds(1))
    watched.park()
    #expect(watched.actions.isEmpty)
  }

  @Test func spellsAreJudgedByTheThresholdOfTheirPhase() throws {
    var watched = Watched()
    watched.learnEpoll()
    watched.detector.terms = JudgementTerms(phase: .background, threshold: .seconds(3))
    watched.run(.seconds(2))
    watched.park()
    watched.stay(.seconds(1))
    #expect(watched.actions.isEmpty && watched.detector.statistics.nearMisses.isEmpty)
    watched.script.run(.milliseconds(1))
    watched.script.block(in: Call.clockNanosleep, depth: 2000)
    watched.stay(.seconds(4))
    // An episode keeps the terms that it began with.
    watched.detector.terms = JudgementTerms(threshold: .milliseconds(500))
    watched.stay(.seconds(1))
    watched.script.run(.milliseconds(1))
    watched.park()
    #expect(watched.ended.count == 1)
    #expect(watched.stalls.allSatisfy { $0.phase == .background && $0.threshold == .seconds(3) })
    #expect(watched.detector.statistics.stalls.count == 1)
  }
}
