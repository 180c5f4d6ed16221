// Gaps in our own looks: what a late awakening is, and what it leaves of a judgement.

import StallCore
import Testing

private typealias Call = SystemCallNumber

private let began = Instant(nanoseconds: 50_000_000_000)

/// A wait for 50 ms that took so long.
private func wait(
  _ elapsed: Duration, slept: ClosedRange<Int64> = 0...1_000, wasContinued: Bool = false,
  planned: Duration = .milliseconds(50)
) -> OwnWait {
  OwnWait(
    began: began, dueAt: began + planned, endedAt: began + elapsed, sleptInAll: slept,
    wasContinued: wasContinued)
}

private func continuity() -> WatchContinuity {
  var continuity = WatchContinuity(shortestInterval: .milliseconds(50))
  _ = continuity.observe(wait(.milliseconds(50))) { .zero }
  return continuity
}

@Suite struct WatchGapTests {
  @Test("TIME-01: time that the monotonic clock does not know of is a sleep of the machine")
  func timeThatTheMonotonicClockDoesNotKnowOfIsASleep() {
    var continuity = continuity()
    let slept = 312_000_000_000 as Int64
    let gap = continuity.observe(wait(.milliseconds(51), slept: slept...slept + 900)) { .zero }
    guard case .suspended(let time) = gap else {
      Issue.record("\(String(describing: gap))")
      return
    }
    #expect(abs(time.seconds - 312) < 0.001)
    #expect(continuity.observe(wait(.milliseconds(51), slept: slept...slept + 900)) { .zero } == nil)
  }

  /// The two clocks are read one after the other, with whatever comes between.
  @Test("TIME-01: clocks that are read far apart are no sleep") func clocksReadFarApartAreNoSleep() {
    var continuity = continuity()
    for slept in [0...5_000_000, 900...40_000_000, -30_000_000...950] as [ClosedRange<Int64>] {
      #expect(continuity.observe(wait(.milliseconds(50), slept: slept)) { .zero } == nil)
    }
  }

  @Test("TIME-03: late by more than three intervals is a gap, with its reason")
  func lateByMoreThanThreeIntervalsIsAGap() {
    var continuity = continuity()
    #expect(continuity.observe(wait(.milliseconds(149))) { .zero } == nil)
    #expect(continuity.observe(wait(.seconds(3))) { .milliseconds(2_900) } == .starved(.seconds(3)))
    #expect(continuity.observe(wait(.seconds(3))) { .milliseconds(3_000) } == .held(.seconds(3)))
    #expect(
      continuity.observe(wait(.seconds(3), wasContinued: true)) { .milliseconds(3_001) }
        == .stopped(.seconds(3)))
    #expect(continuity.observe(wait(.seconds(3))) { nil } == .held(.seconds(3)))
  }

  @Test("TIME-03: a stop in the middle of a look is a gap too") func stopWithinALook() {
    var continuity = continuity()
    var late = wait(.zero, wasContinued: true)
    (late.began, late.endedAt) = (began + .seconds(3), began + .seconds(3))
    late.dueAt = late.began
    #expect(continuity.observe(late) { .zero } == .stopped(.milliseconds(2_950)))
  }

  @Test("TIME-03: a wait of almost nothing that took some milliseconds is no gap") func shortWaitIsNoGap() {
    var continuity = continuity()
    #expect(continuity.observe(wait(.milliseconds(140), planned: .microseconds(10))) { .zero } == nil)
  }

  @Test func ownDelayIsReadSeldom() {
    var continuity = continuity()
    var readings = 0
    for _ in 0..<640 {
      _ = continuity.observe(wait(.milliseconds(50))) {
        readings += 1
        return .zero
      }
    }
    #expect(readings == 10)
  }

  /// Sixty per cent of three seconds in short jobs: no stall, nor perhaps one.
  @Test("TIME-03: what a busy loop did in a gap is nothing that can be told of")
  func busyLoopInAGapIsNothing() {
    var watched = Watched()
    watched.learnEpoll()
    for _ in 0..<60 {
      watched.script.run(.milliseconds(30))
      watched.script.block(in: Call.epollWait, 5)
      watched.script.wait(.milliseconds(20))
    }
    watched.script.run(.milliseconds(100))
    watched.detector.startAnew(after: .starved(.seconds(3)), at: watched.script.look)
    watched.look()
    watched.script.run(.milliseconds(20))
    watched.park()
    watched.stay(.seconds(1))
    #expect(watched.actions.isEmpty && watched.detector.statistics.doubtful == 0)
  }

  @Test("TIME-03: work that was under way before a gap is not known to have gone on")
  func workBeforeAGapIsOver() {
    var watched = Watched()
    watched.learnEpoll()
    watched.run(.milliseconds(100))
    for _ in 0..<60 {
      watched.script.block(in: Call.epollWait, 5)
      watched.script.wait(.milliseconds(20))
      watched.script.run(.milliseconds(30))
    }
    watched.detector.startAnew(after: .stopped(.seconds(3)), at: watched.script.look)
    watched.look()
    watched.park()
    #expect(watched.actions.isEmpty && watched.detector.statistics.doubtful == 0)
  }

  @Test("TIME-02, TIME-03: a block that goes on through a gap of ours alone is proven")
  func blockThroughAGapOfOursIsProven() throws {
    for gap in [WatchGap.starved(.seconds(30)), .stopped(.seconds(30))] {
      var watched = Watched()
      watched.learnEpoll()
      watched.script.run(.milliseconds(1))
      watched.script.block(in: Call.futex, depth: 2000)
      watched.stay(.milliseconds(100))
      watched.script.wait(.seconds(30))
      watched.detector.startAnew(after: gap, at: watched.script.look)
      watched.look()
      let stall = try #require(watched.stalls.first)
      #expect(stall.isVerified && stall.duration.atLeast > .seconds(30))
    }
  }

  /// A sleep of 200 ms, two unrelated programs that both stood still for 290 s: the host's doing.
  @Test(
    "TIME-01, TIME-06: a block through a gap that all shared is not counted",
    arguments: [
      WatchGap.held(.seconds(290)), .suspended(.seconds(290)),
    ])
  func blockThroughASharedGapIsNotCounted(_ gap: WatchGap) {
    var watched = Watched()
    watched.learnEpoll()
    watched.script.run(.milliseconds(1))
    watched.script.block(in: Call.clockNanosleep, depth: 2000)
    watched.stay(.milliseconds(100))
    watched.script.wait(.seconds(290))
    watched.detector.startAnew(after: gap, at: watched.script.look)
    watched.look()
    watched.stay(.milliseconds(100))
    watched.script.run(.milliseconds(1))
    watched.park()
    #expect(watched.stalls.isEmpty)
  }

  @Test("TIME-01: a stall that was told before a sleep of the machine is cut off there, and may go on")
  func stallIsCutOffByASleep() throws {
    var watched = Watched()
    watched.learnEpoll()
    watched.script.run(.milliseconds(1))
    watched.script.block(in: Call.futex, depth: 2000)
    watched.stay(.milliseconds(700))
    let action = watched.detector.startAnew(after: .suspended(.seconds(312)), at: watched.script.look)
    guard case .report(let stall) = action else {
      Issue.record("nothing is said of the stall")
      return
    }
    #expect(stall.state == .interrupted(.machineSuspended) && stall.duration.likely < .seconds(1))
    watched.stay(.milliseconds(700))
    #expect(watched.stalls.last?.id == 2)
    #expect(try #require(watched.stalls.last).duration.likely < .milliseconds(750))
  }
}
