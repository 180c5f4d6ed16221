// Heartbeats and pings as proofs of passes, alone and together with the breakpoint.

import StallCore
import Testing

private func moment(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

@Suite struct CombinedSightTests {
  private let breakpoint = PassSight(source: .breakpoint, lastPass: moment(100), quietSince: moment(100))

  @Test func oneAloneIsWhatItIs() {
    #expect(PassSight.combined(nil, nil) == nil)
    #expect(PassSight.combined(breakpoint, nil) == breakpoint)
    #expect(PassSight.combined(nil, breakpoint) == breakpoint)
  }

  @Test func longerQuietStretchIsTaken() throws {
    let heartbeat = PassSight(source: .heartbeat, quietSince: moment(150))
    let both = try #require(PassSight.combined(breakpoint, heartbeat))
    #expect(both.quietSince == moment(100) && both.source == .breakpoint)
    let later = PassSight(source: .breakpoint, quietSince: moment(300))
    let other = try #require(PassSight.combined(later, heartbeat))
    #expect(other.quietSince == moment(150) && other.source == .heartbeat)
    #expect(PassSight.combined(PassSight(source: .breakpoint), heartbeat)?.quietSince == moment(150))
  }

  @Test func passThatOneSawEndsTheQuietOfTheOther() throws {
    let ping = PassSight(source: .ping, quietSince: moment(50))
    let both = try #require(PassSight.combined(breakpoint, ping))
    #expect(both.quietSince == moment(100))
    let beat = PassSight(
      source: .heartbeat, firstPass: moment(400), lastPass: moment(400), lastPassAfter: moment(350),
      quietSince: moment(400))
    let all = try #require(PassSight.combined(breakpoint, beat))
    #expect(all.quietSince == moment(400) && all.firstPass == moment(400) && all.lastPass == moment(400))
    #expect(all.passSource == .heartbeat && all.lastPassAfter == moment(350))
  }

  /// The variable changed because of the pass that the breakpoint saw.
  @Test func passThatBothSawIsTheExactOne() throws {
    let fire = PassSight(
      source: .breakpoint, firstPass: moment(380), lastPass: moment(380), quietSince: moment(380))
    let beat = PassSight(
      source: .heartbeat, firstPass: moment(400), lastPass: moment(400), lastPassAfter: moment(350),
      quietSince: moment(400))
    let both = try #require(PassSight.combined(fire, beat))
    #expect(both.firstPass == moment(380) && both.lastPass == moment(380) && both.lastPassAfter == nil)
    #expect(both.quietSince == moment(380) && both.passSource == .breakpoint && both.source == .breakpoint)
    #expect(!beat.contradicts(fire))
  }

  @Test func passWithinAQuietStretchContradictsIt() {
    let beat = PassSight(
      source: .heartbeat, firstPass: moment(400), lastPass: moment(400), lastPassAfter: moment(350))
    #expect(beat.contradicts(breakpoint))
    #expect(!beat.contradicts(PassSight(source: .breakpoint, quietSince: moment(360))))
    #expect(!breakpoint.contradicts(beat))
  }
}

@Suite struct HeartbeatTests {
  @Test(arguments: [0.3, 0.6, 0.85, 0.97, 1.0]) func judgementAgreesWithTheTruth(load: Double) {
    var watched = Watched()
    watched.heartbeat = Heartbeat()
    watched.learnEpoll()
    let jobs = watched.workByChance(load: load, seed: 5, longest: 1500)
    expectTruth(of: watched, jobs, found: .milliseconds(1000))
    #expect(watched.ended.contains { $0.isVerified })
  }

  @Test func itsProofIsNamed() throws {
    var watched = Watched()
    watched.heartbeat = Heartbeat()
    watched.learnEpoll()
    for round in 0..<60 {
      watched.script.pass()
      watched.proceed(.milliseconds(round == 40 ? 900 : 20), running: true)
    }
    watched.park()
    let ended = try #require(watched.ended.first)
    #expect(watched.ended.count == 1 && ended.proof == .heartbeat)
  }

  /// Of short rounds between the last look at a job and the park nobody knows when the first of them came.
  @Test(arguments: [0, 8]) func stallEndsWithTheLastLookOrThePark(rounds: Int) throws {
    var watched = Watched()
    watched.heartbeat = Heartbeat()
    watched.learnEpoll()
    for _ in 0..<60 {
      watched.script.pass()
      watched.proceed(.milliseconds(5), running: true)
    }
    watched.script.pass()
    watched.look()
    watched.proceed(.milliseconds(800), running: true)
    watched.look()
    watched.script.run(.milliseconds(30))
    for _ in 0..<rounds {
      watched.script.pass()
      watched.script.run(.milliseconds(5))
    }
    watched.park()
    let ended = try #require(watched.ended.first)
    #expect(watched.ended.count == 1 && ended.proof == .heartbeat)
    let least: Duration = rounds == 0 ? .milliseconds(820) : .milliseconds(790)
    #expect(ended.duration.atLeast > least && ended.duration.atLeast <= .milliseconds(830))
  }

  /// Until it was seen to change, a variable may be any.
  @Test func variableThatStandsStillProvesNothing() {
    var heartbeat = Heartbeat()
    var script = LoopScript()
    for _ in 0..<100 {
      script.run(.milliseconds(50))
      let sight = heartbeat.read(7, script.look, isParked: false)
      #expect(sight == nil)
    }
  }

  @Test func overflowIsAPassLikeAnyOther() throws {
    var heartbeat = Heartbeat()
    var script = LoopScript()
    _ = heartbeat.read(.max, script.look, isParked: false)
    script.run(.milliseconds(50))
    let sight = try required(heartbeat.read(0, script.look, isParked: false))
    #expect(sight.firstPass != nil && sight.lastPassAfter == Instant(nanoseconds: 1_000_000_000))
    script.run(.milliseconds(50))
    let quiet = try required(heartbeat.read(0, script.look, isParked: false))
    #expect(quiet.firstPass == nil && quiet.quietSince == sight.lastPass)
  }

  /// What happened between two looks of which one did not read it may have happened at any time.
  @Test func changeAcrossALookWithoutAReadingIsNoPass() throws {
    var heartbeat = Heartbeat()
    var script = LoopScript()
    _ = heartbeat.read(1, script.look, isParked: false)
    heartbeat.skip()
    script.run(.seconds(2))
    let sight = try required(heartbeat.read(2, script.look, isParked: false))
    #expect(sight.firstPass == nil && sight.lastPass == nil && sight.quietSince != nil)
  }

  @Test func variableThatIsNotTheLoopsIsDistrusted() {
    var heartbeat = Heartbeat()
    var script = LoopScript()
    _ = heartbeat.read(1, script.look, isParked: false)
    script.run(.milliseconds(50))
    _ = heartbeat.read(2, script.look, isParked: false)
    for _ in 0...10 {
      script.block(in: SystemCallNumber.epollWait, 5)
      script.wait(.seconds(3))
      _ = heartbeat.read(2, script.look, isParked: true)
      script.run(.milliseconds(1))
    }
    #expect(heartbeat.isDistrusted && !heartbeat.wantsReading(at: script.look, isParked: false))
  }

  @Test func loopThatOnlyWaitsIsNoReasonForDistrust() {
    var heartbeat = Heartbeat()
    var script = LoopScript()
    script.block(in: SystemCallNumber.epollWait, 5)
    for _ in 0..<100 {
      script.wait(.seconds(3))
      _ = heartbeat.read(2, script.look, isParked: true)
    }
    #expect(!heartbeat.isDistrusted)
    #expect(!heartbeat.wantsReading(at: script.look, isParked: true), "nothing can have changed")
  }
}

private func required(_ sight: PassSight?) throws -> PassSight { try #require(sight) }

extension Heartbeat {
  /// In no time.
  fileprivate mutating func read(_ value: UInt64, _ look: ThreadObservation, isParked: Bool) -> PassSight? {
    take(Reading(value: value, began: look.at, ended: look.at), at: look, isParked: isParked)
  }
}

@Suite struct PingTests {
  @Test(arguments: [0.3, 0.6, 0.85, 0.97, 1.0], [true, false]) func judgementAgreesWithTheTruth(
    load: Double, isTakenFirst: Bool
  ) {
    var watched = Watched()
    watched.ping = PingLog(threshold: .milliseconds(500), isTakenFirst: isTakenFirst)
    watched.script.wakeUp.isTakenFirst = isTakenFirst
    watched.learnEpoll()
    let jobs = watched.workByChance(load: load, seed: 7, longest: 2500)
    expectTruth(of: watched, jobs, found: .milliseconds(isTakenFirst ? 1100 : 1900))
    #expect(watched.ended.contains { $0.isVerified })
  }

  @Test func oneAtATimeAndTwoAThreshold() {
    var log = PingLog(threshold: .milliseconds(500), isTakenFirst: true)
    var script = LoopScript()
    script.run(.milliseconds(1))
    #expect(log.mayRaise(at: script.look, isParked: false))
    log.raise(from: script.now, to: script.now)
    script.run(.milliseconds(400))
    #expect(!log.mayRaise(at: script.look, isParked: false), "one is outstanding")
    let answer = log.see(isTaken: true, at: script.look, isParked: false)
    #expect(answer.responseTime == .milliseconds(400) && answer.sight?.firstPass == script.now)
    #expect(log.mayRaise(at: script.look, isParked: false))
    log.raise(from: script.now, to: script.now)
    script.run(.milliseconds(100))
    _ = log.see(isTaken: true, at: script.look, isParked: false)
    #expect(!log.mayRaise(at: script.look, isParked: false), "too soon")
    #expect(!log.mayRaise(at: script.look, isParked: true))
  }

  @Test(arguments: [ThreadState.stopped, .traced, .frozen]) func heldLoopIsNotPingedAndItsTimeMeansNothing(
    state: ThreadState
  ) {
    var log = PingLog(threshold: .milliseconds(500), isTakenFirst: true)
    var script = LoopScript()
    script.run(.milliseconds(1))
    var held = script.look
    held.state = state
    #expect(!log.mayRaise(at: held, isParked: false))
    log.raise(from: script.now, to: script.now)
    let whileHeld = log.see(isTaken: false, at: held, isParked: false).sight
    script.run(.seconds(5))
    let afterwards = log.see(isTaken: false, at: script.look, isParked: false).sight
    #expect(whileHeld?.quietSince == nil && afterwards?.quietSince == nil)
    let answer = log.see(isTaken: true, at: script.look, isParked: false)
    #expect(answer.responseTime == nil)
  }

  @Test func wakeUpThatAParkedLoopDoesNotTakeIsNotItsOwn() {
    var log = PingLog(threshold: .milliseconds(500), isTakenFirst: true)
    var script = LoopScript()
    log.raise(from: script.now, to: script.now)
    for _ in 0..<3 {
      script.run(.milliseconds(1))
      script.block(in: SystemCallNumber.epollWait, 5)
      _ = log.see(isTaken: false, at: script.look, isParked: true)
    }
    #expect(log.isIgnored && !log.isOutstanding && !log.mayRaise(at: script.look, isParked: false))
  }

  @Test func responseTimesAddUp() {
    var times = ResponseTimes()
    for milliseconds in [30, 10, 20] { times.add(.milliseconds(milliseconds)) }
    var more = ResponseTimes()
    more.add(.milliseconds(40))
    times.add(more)
    #expect(times.count == 4 && times.longest == .milliseconds(40))
    #expect(times.sorted == [10, 20, 30, 40].map { Duration.milliseconds($0) })
  }
}

@Suite struct HeartbeatNameTests {
  @Test(arguments: [
    ("counter", nil, "counter"), ("libx.so:counter", "libx.so", "counter"), ("app::ns::n", nil, "app::ns::n"),
    ("./app:ns::n", "./app", "ns::n"),
    ("static App.Loop.count : Swift.Int", nil, "static App.Loop.count : Swift.Int"),
    ("(anonymous namespace)::n", nil, "(anonymous namespace)::n"), ("a+0x", nil, "a+0x"),
  ]) func symbols(text: String, module: String?, symbol: String) throws {
    let name = try #require(HeartbeatName(ByteString(text)))
    #expect(name.module == module.map { ByteString($0) } && name.place == .symbol(ByteString(symbol)))
  }

  @Test func offsets() throws {
    let name = try #require(HeartbeatName("libx.so.1+0x4010"))
    #expect(name.module == "libx.so.1" && name.place == .offset(0x4010))
  }

  @Test(arguments: ["", ":counter", "libx.so:"]) func nothing(text: String) {
    #expect(HeartbeatName(ByteString(text)) == nil)
  }

  @Test func modulesAreNamedByTheEndOfTheirPath() throws {
    let name = try #require(HeartbeatName("lib/x.so:n"))
    #expect(name.means(moduleAt: "/usr/lib/x.so") && name.means(moduleAt: "lib/x.so"))
    #expect(!name.means(moduleAt: "/usr/mylib/x.so") && !name.means(moduleAt: "/usr/lib/x.so.1"))
  }
}
