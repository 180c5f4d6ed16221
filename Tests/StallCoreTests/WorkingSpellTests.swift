// What is certain of a spell: its start, its end, its proof, and the time that does not count.

import StallCore
import Testing

private typealias Call = SystemCallNumber

@Suite struct WorkingSpellTests {
  @Test func stallAfterBusyTimeBeginsWithItsOwnBlock() throws {
    var watched = Watched()
    watched.learnEpoll()
    for _ in 0..<10 {
      watched.script.block(in: Call.epollWait, 5)
      watched.script.wait(.milliseconds(5))
      watched.script.run(.milliseconds(45))
      watched.look()
    }
    watched.script.block(in: Call.epollWait, 5)
    watched.script.wait(.milliseconds(1))
    watched.script.run(.milliseconds(1))
    watched.script.block(in: Call.nanosleep, depth: 2000)
    watched.stay(.milliseconds(700))
    watched.script.run(.milliseconds(1))
    watched.park()
    let ended = try #require(watched.ended.first { $0.proof == .didNotMove })
    #expect(abs(ended.duration.likely.milliseconds - 701) < 5)
  }

  /// After the block the thread sleeps where no look sees it: the loop may have come round.
  @Test func episodeEndsWhereTheLoopMayHaveParked() throws {
    var watched = Watched()
    watched.learnEpoll()
    watched.script.block(in: Call.nanosleep, depth: 2000)
    watched.stay(.milliseconds(600))
    for _ in 0..<20 {
      for _ in 0..<5 {
        watched.script.run(.milliseconds(9))
        watched.script.block(in: Call.epollWait, 5)
        watched.script.wait(.milliseconds(1))
      }
      watched.script.run(.milliseconds(1))
      watched.look()
    }
    watched.park()
    let ended = try #require(watched.ended.first)
    #expect(ended.duration.likely < .milliseconds(680))
    #expect(ended.isVerified)
  }

  /// After the block the loop may have come round without parking: only the block is certain.
  @Test func shortJobsAfterABlockAreNotCertain() throws {
    var watched = Watched()
    watched.learnEpoll()
    watched.script.block(in: Call.nanosleep, depth: 2000)
    watched.stay(.milliseconds(700))
    watched.script.run(.milliseconds(72))
    watched.park()
    let ended = try #require(watched.ended.first)
    #expect(ended.isVerified)
    #expect(ended.duration.atLeast <= .milliseconds(700) && ended.duration.atLeast > .milliseconds(650))
    #expect(try #require(ended.duration.atMost) >= .milliseconds(772))
  }

  /// The capture of a running thread catches it in a sleep that no look has seen: the kernel does not say what it continues.
  @Test(arguments: ["epoll", "poll"]) func sleepThatACaptureInterruptedIsWork(home: String) throws {
    var watched = Watched()
    func idle() {
      if home == "epoll" { watched.learnEpoll() } else { watched.idleInSets([[3, 4]], depth: 0) }
    }
    idle()
    watched.run(.milliseconds(20))
    watched.look()
    watched.script.block(in: Call.clockNanosleep, depth: 100)
    watched.script.stopForCapture()
    watched.detector.absorbCapture(watched.script.look)
    watched.stay(.milliseconds(800))
    watched.script.run(.milliseconds(1))
    idle()
    let ended = try #require(watched.ended.first)
    #expect(ended.isVerified)
    #expect(ended.duration.atLeast > .milliseconds(700))
  }

  /// Nothing sees passes, and while a capture takes its time the lock is let go and waited for again.
  @Test func twoBlocksAtOnePlaceAreNotProvenAsOne() throws {
    var watched = Watched()
    watched.learnEpoll()
    watched.script.block(in: Call.futex, depth: 2000)
    watched.stay(.milliseconds(450))
    watched.script.wait(.milliseconds(1))
    watched.script.run(.microseconds(50))
    watched.script.block(in: Call.futex, depth: 2000)
    watched.script.wait(.milliseconds(3))
    watched.detector.absorbCapture(watched.script.look)
    watched.stay(.milliseconds(700))
    watched.script.run(.milliseconds(1))
    watched.park()
    let ended = try #require(watched.ended.first)
    #expect(ended.isVerified)
    #expect(ended.duration.atLeast <= .milliseconds(703))
    #expect(ended.duration.likely > .milliseconds(1_100))
  }

  @Test func blockThatEndsBetweenLooksIsProven() throws {
    var watched = Watched()
    watched.learnEpoll()
    watched.script.block(in: Call.nanosleep, depth: 2000)
    watched.script.wait(.milliseconds(480))
    watched.look()
    watched.script.wait(.milliseconds(40))
    watched.script.run(.milliseconds(1))
    watched.park()
    #expect(try #require(watched.ended.first).proof == .didNotMove)
  }

  @Test func doubtfulSpellIsAsLongAsItLasted() throws {
    var watched = Watched()
    watched.learnEpoll()
    for _ in 0..<80 {
      watched.script.block(in: Call.nanosleep, depth: 2000)
      watched.script.wait(.milliseconds(5))
      watched.script.run(.milliseconds(5))
      watched.script.block(in: Call.nanosleep, depth: 2000)
      watched.script.wait(.milliseconds(2))
      watched.look()
    }
    watched.script.run(.milliseconds(1))
    watched.park()
    let doubtful = try #require(watched.ended.first)
    #expect(doubtful.proof == .none && abs(doubtful.duration.likely.milliseconds - 961) < 20)
    #expect(watched.detector.statistics.stalls.count == 0)
  }

  /// The first look takes the set for that of the loop, unread; the second one reads it.
  @Test func blockThatWasTakenForAParkCountsFromItsBeginning() throws {
    var watched = Watched()
    for _ in 0..<6 {
      watched.script.block(in: Call.poll, 0x5000, set: [3, 4])
      watched.stay(.milliseconds(100))
      watched.script.run(.milliseconds(1))
    }
    let start = watched.script.now
    watched.script.block(in: Call.poll, 0x5000, set: [3, 4])
    watched.script.wait(.milliseconds(200))
    watched.look()
    watched.script.showSet([17])
    watched.stay(.milliseconds(600))
    watched.script.run(.milliseconds(1))
    watched.script.block(in: Call.poll, 0x5000, set: [3, 4])
    watched.look()
    let ended = try #require(watched.ended.first)
    #expect(ended.proof == .didNotMove)
    #expect(abs((ended.startedAt - start).milliseconds) < 2)
  }

  @Test func stopPausesTheClock() {
    var watched = Watched()
    watched.learnEpoll()
    watched.script.run(.milliseconds(1))
    watched.script.state = .stopped
    watched.stay(.seconds(5))
    watched.script.state = nil
    watched.park()
    watched.stay(.seconds(1))
    #expect(watched.stalls.isEmpty)
  }

  @Test func stopWhileParkedIsNoStall() {
    var watched = Watched()
    watched.learnEpoll()
    watched.park()
    watched.script.state = .stopped
    watched.stay(.seconds(5))
    watched.script.state = nil
    watched.script.showAsRestarted()
    watched.stay(.seconds(5))
    #expect(watched.stalls.isEmpty)
  }

  /// The watcher itself did not run: a gap proves nothing, unless the thread's own counts do.
  @Test func ownLatenessIsNotAStall() {
    var watched = Watched()
    watched.learnEpoll()
    watched.run(.milliseconds(100))
    watched.script.block(in: Call.epollWait, 5)
    watched.script.wait(.seconds(3))
    watched.script.run(.milliseconds(10))
    watched.look()
    watched.script.run(.milliseconds(10))
    watched.park()
    #expect(watched.stalls.isEmpty)
  }

  @Test func blockThroughOwnGapIsProvenByCounts() {
    var watched = Watched()
    watched.learnEpoll()
    watched.script.block(in: Call.futex, depth: 2000)
    watched.look()
    watched.script.wait(.seconds(3))
    watched.look()
    #expect(watched.stalls.first?.proof == .didNotMove)
  }

  @Test func captureOfSlowThreadDoesNotEndTheStall() throws {
    var watched = Watched()
    watched.isSlowAfterCapture = true
    watched.learnEpoll()
    watched.script.run(.milliseconds(1))
    watched.script.block(in: Call.futex, depth: 2000)
    watched.stay(.milliseconds(800))
    watched.script.run(.milliseconds(1))
    watched.park()
    let ended = try #require(watched.ended.first)
    #expect(watched.ended.count == 1)
    #expect(abs(ended.duration.likely.milliseconds - 801) < 2)
  }

  @Test(arguments: [(UInt64(10), UInt64(30), Double?(0.75)), (1, 2, nil), (0, 40, 1), (50, 0, 0)])
  func kernelPartComesFromTicks(user: UInt64, kernel: UInt64, share: Double?) {
    func look(_ milliseconds: Int64, _ user: UInt64, _ kernel: UInt64) -> ThreadObservation {
      var look = ThreadObservation(
        at: Instant(nanoseconds: milliseconds * 1_000_000), state: .running, activity: .running,
        cpuTime: .milliseconds(milliseconds), runQueueDelay: .zero, timesScheduled: 1, voluntarySwitches: 1)
      (look.userTicks, look.kernelTicks) = (user, kernel)
      return look
    }
    var spell = WorkingSpell(first: look(1000, 7, 3), after: nil)
    spell.extend(look(1400, 7 + user, 3 + kernel), isElsewhere: true, blindAfter: .seconds(1))
    let breakdown = spell.extent(for: .milliseconds(100)).breakdown
    #expect(breakdown.onCPUInKernel == share.map { breakdown.onCPU * $0 })
    #expect(breakdown.userShare == share.map { 1 - $0 })
  }
}
