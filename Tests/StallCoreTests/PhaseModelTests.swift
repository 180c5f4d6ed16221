// Phases: made-up lives of programs, and what is said of them.

import StallCore
import Testing

private typealias Call = SystemCallNumber

/// A program whose looks are fed to a model of its loop and of its phases every 100 ms.
private struct Life {
  var script = LoopScript()
  var loop = EventLoopModel()
  var phases: PhaseModel
  var isInBackground = false
  private(set) var said: [Stall] = []
  private var episodes = 0

  init(watchdog: Bool = false, chosen: [Phase: Duration] = [:], isJudged: Bool = true) {
    phases = PhaseModel(
      PhaseThresholds(normal: .milliseconds(500), isWatchdog: watchdog, chosen: chosen), isJudged: isJudged)
  }

  static func launched(watchdog: Bool = false, chosen: [Phase: Duration] = [:]) -> Life {
    var life = Life(watchdog: watchdog, chosen: chosen)
    life.note(.began(after: life.script.now, by: life.script.now))
    return life
  }

  /// Has been in its loop for long.
  static func settled(watchdog: Bool = true) -> Life {
    var life = Life(watchdog: watchdog)
    life.park(.seconds(1))
    return life
  }

  mutating func note(_ fact: PhaseFact) { take { $0.phases.note(fact, $1) } }
  mutating func end(_ reason: Interruption) {
    take { life, next in life.phases.interrupt(reason, at: life.script.now, next) }
  }

  mutating func look() {
    let position = loop.observe(script.look)
    phases.prepare(for: script.look, isInBackground: isInBackground)
    take { life, next in life.phases.observe(life.script.look, position, home: life.loop.home, next) }
  }

  private mutating func take(_ act: (inout Life, () -> Int) -> StallAction) {
    var next = episodes
    let action = act(&self) {
      next += 1
      return next
    }
    episodes = next
    switch action {
    case .none: break
    case .captureAndReport(let stall), .report(let stall): said.append(stall)
    }
  }

  mutating func compute(_ duration: Duration) { pass(duration) { $0.run($1) } }
  mutating func stay(_ duration: Duration) { pass(duration) { $0.wait($1) } }

  mutating func park(_ duration: Duration) {
    script.block(in: Call.epollWait, 5)
    stay(duration)
  }

  private mutating func pass(_ duration: Duration, _ step: (inout LoopScript, Duration) -> Void) {
    var left = duration
    while left > .zero {
      step(&script, min(left, .milliseconds(100)))
      left -= .milliseconds(100)
      look()
    }
  }
}

@Suite struct PhaseModelTests {
  @Test func shortLaunchIsNotSpokenOf() {
    var life = Life.launched()
    life.compute(.milliseconds(1500))
    #expect(life.phases.phase == .launch)
    life.park(.seconds(1))
    #expect(life.phases.phase == .normal)
    #expect(life.said.isEmpty)
  }

  @Test func longLaunchIsOneEpisode() throws {
    var life = Life.launched()
    life.compute(.milliseconds(4500))
    life.park(.seconds(10))
    #expect(life.said.map(\.state) == [.ongoing, .ongoing, .ended])
    #expect(life.said.allSatisfy { $0.phase == .launch && $0.id == 1 && !$0.isVerified })
    let ended = try #require(life.said.last)
    #expect(ended.threshold == .seconds(2))
    #expect(ended.duration.atLeast <= .milliseconds(4500))
    #expect(try #require(ended.duration.atMost) >= .milliseconds(4500))
    #expect(abs(ended.duration.likely.milliseconds - 4500) <= 100)
  }

  @Test func launchIsLongerWithTheWatchdogAndAsAskedFor() {
    for (watchdog, chosen, expected) in [
      (true, [:], 20.0), (true, [Phase.launch: .seconds(5)], 5), (false, [.launch: .seconds(1)], 1),
    ] as [(Bool, [Phase: Duration], Double)] {
      var life = Life.launched(watchdog: watchdog, chosen: chosen)
      life.compute(.seconds(25))
      #expect(life.said.first?.threshold.seconds == expected)
      #expect(abs((life.said.first?.duration.likely.seconds ?? 0) - expected) < 0.15)
    }
  }

  /// Without any word about phases, a launch may take what a stall may.
  @Test func launchIsNeverShorterThanAStall() {
    #expect(PhaseThresholds(normal: .seconds(5))[.launch] == .seconds(5))
    #expect(PhaseThresholds(normal: .seconds(5))[.quit] == nil)
  }

  /// The first waits of a loop of sleeps are only later known to be its home.
  @Test func launchEndsWithTheFirstOfTheWaitsThatTurnOutToBeTheHome() {
    var life = Life.launched()
    life.compute(.milliseconds(500))
    for _ in 0..<5 {
      life.script.block(in: Call.clockNanosleep)
      life.stay(.milliseconds(900))
      life.compute(.milliseconds(100))
    }
    #expect(life.said.isEmpty)
    #expect(life.phases.phase == .normal)
  }

  /// A lock in which a JVM's first thread waits for ever, the standard input of a filter, a shell's child.
  @Test(arguments: [Call.futex, Call.read, Call.wait4]) func waitThatMayBeTheHomeIsNotALaunch(_ call: Int) {
    var life = Life.launched()
    life.script.block(in: call)
    life.stay(.seconds(30))
    life.end(.targetExited)
    #expect(life.said.isEmpty)
  }

  @Test func launchThatEndsInAnotherProgramIsCutOff() {
    var life = Life.launched()
    life.compute(.seconds(3))
    life.note(.began(after: life.script.now, by: life.script.now))
    #expect(life.said.last?.state == .interrupted(.targetReplaced))
    life.compute(.seconds(1))
    life.park(.seconds(1))
    #expect(life.said.count == 2)
  }

  @Test func runningProgramHasNoLaunch() {
    var life = Life()
    life.compute(.seconds(30))
    #expect(life.said.isEmpty && life.phases.phase == .normal)
  }

  @Test func spellsAreNotJudgedWhileTheLaunchIs() {
    var life = Life.launched()
    #expect(life.phases.terms.threshold > .seconds(86_400))
    life.park(.seconds(1))
    #expect(life.phases.terms.threshold == .milliseconds(500))
  }

  @Test func resumeLastsFromTheStopToTheNextPark() {
    var life = Life.settled()
    life.script.state = .stopped
    life.stay(.seconds(1))
    life.script.state = nil
    life.compute(.milliseconds(300))
    #expect(life.phases.phase == .resume && life.phases.terms.threshold == .seconds(10))
    life.park(.milliseconds(200))
    #expect(life.phases.phase == .normal)
    life.note(.machineResumed(at: life.script.now))
    #expect(life.phases.phase == .resume)
  }

  @Test func resumeIsNotToldApartUnlessAskedFor() {
    var life = Life.settled(watchdog: false)
    life.note(.machineResumed(at: life.script.now))
    #expect(life.phases.phase == .normal && life.phases.terms.threshold == .milliseconds(500))
  }

  @Test func backgroundHasItsOwnThreshold() {
    var life = Life.settled()
    life.isInBackground = true
    life.park(.milliseconds(100))
    #expect(life.phases.phase == .background && life.phases.terms.threshold == .seconds(180))
    life.isInBackground = false
    life.park(.milliseconds(100))
    #expect(life.phases.phase == .normal)
    var other = Life.settled(watchdog: false)
    other.isInBackground = true
    other.park(.milliseconds(100))
    #expect(other.phases.terms.threshold == .milliseconds(500))
  }

  @Test func endThatTakesTooLongIsTold() throws {
    var life = Life.settled()
    life.note(.askedToQuit(at: life.script.now, mayGoOn: false))
    #expect(life.phases.phase == .quit)
    life.script.block(in: Call.futex, depth: 2000)
    life.stay(.seconds(8))
    life.end(.targetExited)
    #expect(life.said.map(\.state) == [.ongoing, .ended])
    #expect(life.said.allSatisfy { $0.phase == .quit && $0.threshold == .seconds(6) && $0.isVerified })
    #expect(abs(try #require(life.said.last).duration.likely.seconds - 8) < 0.15)
  }

  @Test func quickEndIsNotSpokenOf() {
    var life = Life.settled()
    life.note(.askedToQuit(at: life.script.now, mayGoOn: false))
    life.compute(.seconds(5))
    life.end(.targetExited)
    #expect(life.said.isEmpty)
  }

  /// A shell takes an interrupt for something else; one that was sent SIGTERM has no such excuse.
  @Test func whoParksAgainAfterAnInterruptGoesOn() {
    for mayGoOn in [true, false] {
      var life = Life.settled()
      life.note(.askedToQuit(at: life.script.now, mayGoOn: mayGoOn))
      life.park(.seconds(20))
      #expect(life.said.isEmpty == mayGoOn)
      #expect(life.phases.phase == (mayGoOn ? .normal : .quit))
    }
  }

  @Test func secondRequestDoesNotBeginAnew() {
    var life = Life.settled()
    life.note(.askedToQuit(at: life.script.now, mayGoOn: false))
    life.compute(.seconds(5))
    life.note(.askedToQuit(at: life.script.now, mayGoOn: false))
    life.compute(.seconds(2))
    #expect(life.said.map(\.state) == [.ongoing])
  }

  @Test func stopThatTakesTooLongIsTold() {
    var life = Life.settled()
    life.note(.askedToStop(at: life.script.now))
    life.compute(.seconds(11))
    #expect(life.said.map(\.state) == [.ongoing] && life.said.allSatisfy { $0.phase == .suspend })
    life.script.state = .stopped
    life.stay(.milliseconds(100))
    #expect(life.said.last?.state == .ended)
    var other = Life.settled()
    other.note(.askedToStop(at: other.script.now))
    other.compute(.seconds(1))
    other.note(.stopped(at: other.script.now))
    #expect(other.said.isEmpty && other.phases.phase == .normal)
  }

  @Test func whereStallsAreNoSubjectNoPhaseIs() {
    var life = Life(watchdog: true, isJudged: false)
    life.note(.began(after: life.script.now, by: life.script.now))
    life.compute(.seconds(60))
    life.note(.askedToQuit(at: life.script.now, mayGoOn: false))
    life.compute(.seconds(60))
    life.end(.targetExited)
    #expect(life.said.isEmpty && life.phases.phase == .normal)
  }
}
