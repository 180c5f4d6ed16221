// Judging a thread of whose waits only the kinds can be seen, or only that it sleeps.

import StallCore
import Testing

@Suite struct ReducedSightTests {
  /// Idles in waits of this kind, coming back a few times.
  private func watched(idlingIn kind: WaitKind) -> Watched {
    var watched = Watched()
    for _ in 0..<4 {
      watched.script.block(by: kind)
      watched.stay(.milliseconds(100))
      watched.script.run(.microseconds(100))
    }
    return watched
  }

  @Test(arguments: [WaitKind.sleep, .futex, .other, nil])
  func blockOfAnotherKindIsAStallThatIsNotVerified(_ kind: WaitKind?) throws {
    var watched = watched(idlingIn: .epoll)
    watched.script.block(by: kind)
    watched.stay(.milliseconds(800))
    watched.script.run(.microseconds(10))
    watched.script.block(by: .epoll)
    watched.look()
    let ended = try #require(watched.ended.first)
    #expect(ended.proof == .otherKind && !ended.isVerified)
    #expect(ended.duration.atLeast >= .milliseconds(750) && ended.duration.atLeast <= .milliseconds(800))
    #expect(watched.detector.statistics.stalls.count == 1)
    #expect(watched.detector.statistics.stalls.verified == 0)
  }

  @Test func waitOfTheSameKindCountsAsParked() {
    var watched = watched(idlingIn: .poll)
    watched.script.block(by: .poll)
    watched.stay(.seconds(5))
    #expect(watched.actions.isEmpty)
  }

  @Test func computingIsSeenWithoutAnyKind() throws {
    var watched = watched(idlingIn: .unseen)
    watched.run(.milliseconds(800))
    watched.script.block(by: .unseen)
    watched.look()
    #expect(try #require(watched.ended.first).proof == .neverSlept)
    // It slept, and that may have been the loop's wait or not: no share of idle time is claimed.
    #expect(watched.detector.statistics.parkedShare == nil)
  }

  /// It was found asleep, and there is nothing else that it could be found in.
  @Test func firstComputationIsSeen() throws {
    var watched = Watched()
    watched.script.block(by: .unseen)
    watched.stay(.milliseconds(200))
    watched.run(.milliseconds(800))
    watched.script.block(by: .unseen)
    watched.look()
    #expect(try #require(watched.ended.first).proof == .neverSlept)
  }

  @Test func diskWaitIsSeenWithoutAnyKind() throws {
    var watched = watched(idlingIn: .unseen)
    watched.script.block(by: nil)
    watched.stay(.milliseconds(800))
    watched.script.run(.microseconds(10))
    watched.script.block(by: .unseen)
    watched.look()
    #expect(try #require(watched.ended.first).proof == .otherKind)
  }

  /// Where the stack is not seen, a sleep loop whose work polls is known by where it spends its time.
  @Test func pollInTheWorkOfASleepLoopIsNotItsHome() {
    var watched = Watched()
    for _ in 0..<6 {
      watched.script.block(by: .sleep)
      watched.stay(.milliseconds(900))
      watched.script.run(.microseconds(10))
      watched.script.block(by: .poll)
      watched.stay(.milliseconds(50))
      watched.script.run(.microseconds(10))
    }
    #expect(watched.detector.loop.home?.site.kind == .sleep)
    #expect(watched.stalls.isEmpty)
  }

  @Test func callAndKindOfOneThreadAreNotTheSameSite() {
    var watched = Watched()
    watched.learnEpoll()
    #expect(watched.detector.loop.home?.matches(Site(.epoll)) == false)
  }
}

@Suite struct StateFactsTests {
  private var facts = StateFacts(threshold: .milliseconds(500))
  private var script = LoopScript()

  @Test mutating func diskWaitIsToldOnce() {
    var told: [StateFact] = []
    script.block(by: nil)
    for _ in 0..<20 {
      if let fact = facts.observe(script.look) { told.append(fact) }
      script.wait(.milliseconds(100))
    }
    #expect(told == [.uninterruptible(.milliseconds(500))])
    script.run(.milliseconds(1))
    script.block(by: nil)
    #expect(facts.observe(script.look) == nil)
    script.wait(.milliseconds(700))
    #expect(facts.observe(script.look) == .uninterruptible(.milliseconds(700)))
  }

  @Test mutating func waitForACPUIsToldOnceBetweenSleeps() {
    _ = facts.observe(script.look)
    script.starve(.milliseconds(300))
    #expect(facts.observe(script.look) == nil)
    script.starve(.milliseconds(300))
    #expect(facts.observe(script.look) == .starved(.milliseconds(600)))
    script.starve(.milliseconds(300))
    #expect(facts.observe(script.look) == nil)
    script.block(by: .other)
    #expect(facts.observe(script.look) == nil)
  }
}

@Suite struct RetrySpacingTests {
  @Test func refusalsGrowSeldom() {
    var spacing = RetrySpacing()
    var attempts = 0
    // Ten looks a second for ten minutes.
    for tick in 0..<6_000 {
      let moment = Instant(nanoseconds: Int64(tick) * 100_000_000)
      guard spacing.isDue(at: moment) else { continue }
      attempts += 1
      spacing.refuse(at: moment)
    }
    // At 0, 1, 3, 7, 15, 31, 63 s, then every 64 s.
    #expect(attempts == 15)
  }
}
