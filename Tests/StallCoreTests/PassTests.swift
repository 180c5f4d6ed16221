// What a breakpoint behind the loop's wait adds to the judgement: loops under full load, exact starts and ends.

import StallCore
import Testing

private typealias Call = SystemCallNumber

@Suite struct PassTests {
  @Test func computingAfterAParkIsVerifiedWithExactTimes() throws {
    var watched = Watched.withBreakpoint(shots: 4)
    watched.park()
    watched.proceed(.milliseconds(930), running: false)
    let start = watched.script.now
    watched.proceed(.milliseconds(800), running: true)
    watched.park()
    let ended = try #require(watched.ended.first)
    #expect(ended.proof == .breakpoint && ended.startedAt == start)
    #expect(ended.duration.likely == .milliseconds(800))
    guard case .captureAndReport(let ongoing) = watched.actions.first else { throw NoStall() }
    #expect(ongoing.isVerified && ongoing.duration.likely < .milliseconds(503))
  }

  @Test(arguments: [1, 4, 16]) func loopUnderFullLoadIsNoStall(shots: Int) {
    var watched = Watched.withBreakpoint(shots: shots)
    for _ in 0..<1000 {
      watched.script.pass()
      watched.proceed(.milliseconds(19), running: true)
    }
    watched.park()
    #expect(watched.actions.isEmpty)
    #expect(watched.detector.statistics.doubtful == 0)
  }

  @Test(arguments: [1, 16]) func jobsJustBelowTheThresholdAreNoStall(shots: Int) {
    var watched = Watched.withBreakpoint(shots: shots)
    for _ in 0..<100 {
      watched.script.pass()
      watched.proceed(.milliseconds(490), running: true)
    }
    #expect(watched.actions.isEmpty)
    #expect(watched.detector.statistics.nearMisses.first.map { $0 > .milliseconds(400) } ?? false)
  }

  @Test func longJobAmongManyShortOnesIsFoundWithExactTimes() throws {
    var watched = Watched.withBreakpoint(shots: 16)
    for round in 0..<100 {
      watched.script.pass()
      watched.proceed(.milliseconds(round == 50 ? 713 : 11), running: true)
    }
    let ended = try #require(watched.ended.first)
    #expect(watched.ended.count == 1)
    #expect(ended.proof == .breakpoint && ended.duration.likely == .milliseconds(713))
    // The last shot may have been used up before it began.
    #expect(ended.duration.atLeast > .milliseconds(660) && ended.duration.atLeast <= .milliseconds(713))
    #expect(ended.duration.atMost.map { $0 >= .milliseconds(713) } ?? false)
  }

  /// What node does while it allocates: helpers are waited for now and then, which no look sees.
  @Test func unseenSleepsWithoutAPassAreWork() throws {
    var watched = Watched.withBreakpoint(shots: 4)
    watched.park()
    watched.proceed(.seconds(1), running: false)
    for _ in 0..<80 {
      watched.proceed(.milliseconds(9), running: true)
      watched.script.block(in: Call.futex, depth: 900)
      watched.proceed(.microseconds(200), running: false)
    }
    watched.script.run(.milliseconds(1))
    watched.park()
    let ended = try #require(watched.ended.first)
    #expect(ended.proof == .breakpoint && abs(ended.duration.likely.milliseconds - 737) < 10)
  }

  /// As when a file is written and brought to the disk: between the last look at the work and the park it sleeps often.
  @Test func unseenSleepsBeforeTheParkBelongToTheStall() throws {
    var watched = Watched.withBreakpoint(shots: 4)
    watched.park()
    watched.proceed(.seconds(1), running: false)
    let start = watched.script.now
    watched.proceed(.milliseconds(600), running: true)
    for _ in 0..<9 {
      watched.script.block(in: Call.fsync, depth: 900)
      watched.script.wait(.milliseconds(4))
      watched.script.run(.microseconds(100))
    }
    let length = watched.script.now - start
    watched.script.block(in: Call.epollWait, 5)
    watched.script.wait(.milliseconds(10))
    watched.look()
    let ended = try #require(watched.ended.first)
    #expect(ended.proof == .breakpoint && ended.duration.likely == length)
    #expect(ended.duration.atLeast <= length && ended.duration.atMost.map { $0 >= length } ?? false)
  }

  /// The same, and the loop has come round once more before the look that finds it parked: when the work was over is not known.
  @Test func endOfWorkThatSleepsOftenIsTakenInTheMiddle() throws {
    var watched = Watched.withBreakpoint(shots: 4)
    watched.park()
    watched.proceed(.seconds(1), running: false)
    let start = watched.script.now
    watched.script.run(.microseconds(100))
    func write() {
      watched.script.block(in: Call.fsync, depth: 900)
      watched.script.wait(.milliseconds(2))
      watched.script.run(.microseconds(100))
    }
    while watched.script.now - start < .milliseconds(600) {
      write()
      if watched.script.now >= watched.nextLook { watched.look() }
    }
    watched.look()
    for _ in 0..<9 { write() }
    watched.script.pass()
    let pass = watched.script.now
    watched.script.block(in: Call.epollWait, 5)
    watched.script.wait(.milliseconds(10))
    watched.look()
    let ended = try #require(watched.ended.first)
    let end = ended.startedAt + ended.duration.likely
    let least = ended.startedAt + ended.duration.atLeast
    #expect(end - least > (pass - least) / 3 && pass - end > (pass - least) / 3)
  }

  @Test func stopWithinAQuietStretchDoesNotCount() {
    var watched = Watched.withBreakpoint(shots: 4)
    watched.park()
    watched.proceed(.seconds(1), running: false)
    watched.proceed(.milliseconds(300), running: true)
    watched.script.state = .stopped
    watched.stay(.seconds(5))
    watched.script.state = nil
    watched.proceed(.milliseconds(100), running: true)
    watched.park()
    #expect(watched.stalls.isEmpty)
  }

  /// Nothing sees that a woken thread has left the loop's wait before it runs again.
  @Test func parkThatNoLookSawIsNoWork() throws {
    var watched = Watched.withBreakpoint(shots: 16)
    watched.park()
    watched.proceed(.seconds(1), running: false)
    for _ in 0..<40 {
      // 30 ms of work, a park of 10 ms, and 30 ms in which it is woken and gets no CPU.
      watched.proceed(.milliseconds(30), running: true)
      watched.script.block(in: Call.epollWait, 5)
      watched.script.wait(.milliseconds(10))
      watched.script.starve(.milliseconds(30))
      watched.look()
      watched.script.pass()
    }
    watched.park()
    #expect(watched.stalls.isEmpty)
  }

  /// A thread that is held for its stack goes back into its call a moment later.
  @Test func blockGoesOnAfterACaptureThatTakesItsTime() throws {
    var watched = Watched()
    watched.isSlowAfterCapture = true
    watched.learnEpoll()
    watched.script.run(.milliseconds(1))
    watched.script.block(in: Call.futex, depth: 2000)
    watched.stay(.milliseconds(501))
    var back = watched.script
    back.run(.zero)
    _ = watched.detector.observe(back.look) { nil }
    watched.stay(.milliseconds(400))
    watched.script.run(.milliseconds(1))
    watched.park()
    #expect(watched.ended.count == 1)
    #expect(abs(try #require(watched.ended.first).duration.likely.milliseconds - 902) < 5)
  }

  /// The loop leaves its park and is stopped before any look finds it at work.
  @Test(arguments: [ThreadState.stopped, .frozen]) func stopRightAfterAParkDoesNotCount(_ state: ThreadState)
  {
    var watched = Watched.withBreakpoint(shots: 16)
    watched.park()
    watched.proceed(.seconds(1), running: false)
    watched.script.run(.milliseconds(1))
    watched.script.block(in: Call.futex, depth: 2000)
    watched.script.state = state
    watched.stay(.seconds(2))
    watched.script.state = nil
    // A wait for a lock begins anew.
    watched.script.block(in: Call.futex, depth: 2000)
    watched.stay(.milliseconds(60))
    watched.script.run(.milliseconds(5))
    watched.park()
    watched.proceed(.seconds(1), running: false)
    #expect(watched.stalls.isEmpty)
  }

  @Test func stopWithinABlockDoesNotCount() throws {
    var watched = Watched()
    watched.learnEpoll()
    watched.script.block(in: Call.nanosleep, depth: 2000)
    watched.stay(.milliseconds(300))
    watched.script.state = .stopped
    watched.stay(.seconds(3))
    watched.script.state = nil
    watched.script.showAsRestarted()
    watched.stay(.milliseconds(100))
    watched.script.run(.milliseconds(1))
    watched.park()
    #expect(watched.stalls.isEmpty)
  }

  /// Loads and job lengths as made up by chance; the judgement is compared with what was true.
  @Test(arguments: [0.3, 0.6, 0.85, 0.97, 1.0], [1, 4, 16]) func judgementAgreesWithTheTruth(
    load: Double, shots: Int
  ) {
    var watched = Watched.withBreakpoint(shots: shots)
    let jobs = watched.workByChance(load: load, seed: UInt64(shots), longest: 1500)
    // The pass that ends a long park uses up a single shot, and the first look at the job may be the last of a calm time:
    // then it takes the longest distance of calm looks, not of alert ones.
    let mayComeLate = shots == 1 || load < 0.5
    expectTruth(of: watched, jobs, found: .milliseconds(mayComeLate ? 950 : 550))
  }
}

extension PassTests {
  /// Whether looks at a resting loop are made in full must not show.
  @Test(arguments: [0.05, 0.3, 0.6]) func restingChangesNothing(load: Double) {
    func watched(rests: Bool) -> Watched {
      var watched = Watched()
      watched.rests = rests
      watched.learnEpoll()
      watched.armBreakpoint(shots: 16)
      _ = watched.workByChance(load: load, seed: 3, longest: 1500, jobs: 2000)
      return watched
    }
    let (full, resting) = (watched(rests: false), watched(rests: true))
    #expect(resting.restCount > 100)
    #expect(!full.stalls.isEmpty && resting.actions == full.actions)
    #expect(resting.detector.statistics.parkedShare == full.detector.statistics.parkedShare)
  }

  @Test(arguments: [1, 16]) func loopThatIsNeverIdleIsSaturatedOnce(shots: Int) throws {
    var watched = Watched.withBreakpoint(shots: shots)
    watched.park()
    watched.proceed(.seconds(1), running: false)
    for _ in 0..<300 {
      watched.script.pass()
      watched.proceed(.milliseconds(10), running: true)
    }
    watched.park()
    watched.proceed(.seconds(1), running: false)
    #expect(watched.actions.isEmpty)
    let told = watched.saturations.filter { $0.state == .ongoing }
    let ended = watched.saturations.filter { $0.state == .ended }
    #expect(told.count == 1 && ended.count == 1)
    #expect(abs(try #require(told.first).duration.likely.milliseconds - 500) <= 50)
    let last = try #require(ended.first)
    #expect(abs(last.duration.likely.milliseconds - 3000) < 20)
    #expect(shots == 1 ? last.passes == nil : last.passes.map { abs($0 - 300) <= 4 } ?? true)
    if shots > 1 {
      #expect(last.longestPass.map { $0 >= .milliseconds(10) } ?? false)
    }
  }

  @Test func oneLongJobIsNoSaturation() {
    var watched = Watched.withBreakpoint(shots: 16)
    watched.park()
    watched.proceed(.seconds(1), running: false)
    watched.proceed(.seconds(2), running: true)
    watched.park()
    #expect(watched.saturations.isEmpty && watched.ended.count == 1)
  }

  @Test func loopThatIdlesNowAndThenIsNotSaturated() {
    var watched = Watched.withBreakpoint(shots: 16)
    for _ in 0..<200 {
      watched.script.block(in: Call.epollWait, 5)
      watched.proceed(.milliseconds(2), running: false)
      watched.proceed(.milliseconds(18), running: true)
    }
    watched.park()
    #expect(watched.saturations.isEmpty && watched.actions.isEmpty)
  }
}

private struct NoStall: Error {}
