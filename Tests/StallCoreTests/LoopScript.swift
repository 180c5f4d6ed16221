// A made-up thread whose looks the tests write down: time, counts and calls stay consistent by themselves.

import StallCore

struct LoopScript {
  private(set) var now = Instant(nanoseconds: 1_000_000_000)
  private var cpuTime = Duration.zero
  private var delay = Duration.zero
  private var timesScheduled: UInt64 = 1
  private var voluntarySwitches: UInt64 = 0
  private var activity = Activity.running
  private var descriptors: DescriptorSet?
  private var blockedSince: Instant?
  var state: ThreadState?
  /// What sees passes; nil: nothing does.
  var breakpoint: ScriptedBreakpoint?
  /// How often the loop came round.
  private(set) var rounds: UInt64 = 0
  var wakeUp = ScriptedWakeUp()
  /// False on a kernel that does not tell when a block began.
  var tellsBlockStart = true

  static let mainStack: UInt64 = 0x7fff_0000

  /// Gives up the CPU in this call. A `count` without a `set`: a poll of so many descriptors that cannot be read.
  mutating func block(
    in number: Int, _ first: UInt64 = 0, depth: UInt64 = 0, third: UInt64 = UInt64.max, set: [Int32]? = nil,
    count: UInt64 = 0
  ) {
    if number == SystemCallNumber.epollWait, first == 5, wakeUp.isRaised {
      pass()
      wakeUp.takeAlone()
    }
    voluntarySwitches += 1
    blockedSince = now
    descriptors = set.map { DescriptorSet($0) }
    activity = .blocked(
      BlockedCall(
        number: number,
        arguments: InlineArguments(first, set.map { UInt64($0.count) } ?? count, third),
        stackPointer: Self.mainStack - depth, programCounter: 0x1000 + UInt64(number)))
  }

  /// Gives up the CPU in a wait of which only the kind is seen; nil: in none in which a loop would idle.
  mutating func block(by kind: WaitKind?) {
    voluntarySwitches += 1
    blockedSince = now
    descriptors = nil
    activity = .blockedByKind(kind)
    state = kind == nil ? .uninterruptible : nil
  }

  /// Ready to run while others have the CPU.
  mutating func starve(_ duration: Duration) {
    if activity != .running { timesScheduled += 1 }
    activity = .running
    delay += duration
    now = now + duration
  }

  /// The set of the present call turns out to be this one.
  mutating func showSet(_ set: [Int32]) { descriptors = DescriptorSet(set) }

  /// As the kernel shows a call that it continues after a stop.
  mutating func showAsRestarted() {
    guard case .blocked(var call) = activity else { return }
    call.number = SystemCallNumber.restartSyscall
    activity = .blocked(call)
    timesScheduled += 1
    voluntarySwitches += 1
    blockedSince = now
  }

  /// A capture stops the thread and lets it go on.
  mutating func stopForCapture() {
    voluntarySwitches += 1
    if case .blocked = activity { showAsRestarted() }
  }

  /// The loop's wait returns at once.
  mutating func pass() {
    breakpoint?.fire(at: now)
    rounds += 1
    wakeUp.pass()
  }

  var isParked: Bool {
    if case .blocked(let call) = activity {
      call.number == SystemCallNumber.epollWait && call.arguments.first == 5
    } else {
      false
    }
  }

  mutating func run(_ duration: Duration) {
    if case .blocked(let call) = activity, call.number == SystemCallNumber.epollWait,
      call.arguments.first == 5
    {
      pass()
    }
    if activity != .running { timesScheduled += 1 }
    activity = .running
    state = nil
    blockedSince = nil
    cpuTime += duration
    now = now + duration
  }

  mutating func wait(_ duration: Duration) { now = now + duration }

  var look: ThreadObservation {
    ThreadObservation(
      at: now, state: state ?? (activity == .running ? .running : .sleeping), activity: activity,
      cpuTime: cpuTime, runQueueDelay: delay, timesScheduled: timesScheduled,
      voluntarySwitches: voluntarySwitches, descriptors: descriptors)
  }

  func blockStart() -> BlockStart? { tellsBlockStart ? blockedSince.map { BlockStart(latest: $0) } : nil }
}

/// A detector that is fed at a fixed distance and keeps what it said.
struct Watched {
  var script = LoopScript()
  var detector = StallDetector(threshold: .milliseconds(500), interval: nil)
  private(set) var actions: [StallAction] = []
  private(set) var saturations: [Saturation] = []
  /// On a busy machine a thread that was held is not back in its call when it is looked at.
  var isSlowAfterCapture = false
  var heartbeat: Heartbeat?
  var ping: PingLog?
  /// A look that finds the loop where the last one found it parked is no more than that.
  var rests = false
  private(set) var restCount = 0
  private var lastSeen: ThreadObservation?

  init() {}

  /// When the detector wants the next look.
  private(set) var nextLook = Instant(nanoseconds: 0)
  private(set) var lookCount = 0

  mutating func look() {
    var seen = script.look
    if rests, detector.isAtRest, let lastSeen, seen.hasNotMoved(since: lastSeen) {
      nextLook = detector.rest(at: seen.at)
      restCount += 1
      return
    }
    lastSeen = seen
    seen.passes = PassSight.combined(
      script.breakpoint?.take(at: seen.at), PassSight.combined(beat(seen), answer(seen)))
    let script = self.script
    let (action, next) = detector.observe(seen) { script.blockStart() }
    nextLook = next
    lookCount += 1
    switch detector.saturation {
    case .none, .capture: break
    case .captureAndReport(let saturation), .report(let saturation): saturations.append(saturation)
    }
    if action != .none { actions.append(action) }
    if case .captureAndReport = action {
      self.script.stopForCapture()
      var after = self.script
      if isSlowAfterCapture { after.run(.zero) }
      detector.absorbCapture(after.look)
    }
  }

  /// Lets time pass with the thread as it is, and looks every 50 ms.
  mutating func stay(_ duration: Duration) {
    var left = duration
    while left > .zero {
      let step = min(left, .milliseconds(50))
      script.wait(step)
      look()
      left -= step
    }
  }

  /// Runs on a CPU, and looks every 50 ms.
  mutating func run(_ duration: Duration) {
    var left = duration
    while left > .zero {
      let step = min(left, .milliseconds(50))
      script.run(step)
      look()
      left -= step
    }
  }

  /// Lets time pass, or the thread run, and looks whenever the detector asks for it.
  mutating func proceed(_ duration: Duration, running: Bool) {
    let end = script.now + duration
    while script.now < end {
      let step = min(end, max(nextLook, script.now + .microseconds(1))) - script.now
      if running { script.run(step) } else { script.wait(step) }
      if script.now >= nextLook { look() }
    }
  }

  /// Reads the rounds as a variable that takes 50 µs to read.
  private mutating func beat(_ look: ThreadObservation) -> PassSight? {
    let isIdle = script.isParked && !detector.isHeldUp(at: look.at)
    guard heartbeat?.wantsReading(at: look, isParked: isIdle) ?? false else {
      heartbeat?.skip()
      return nil
    }
    let reading = Heartbeat.Reading(
      value: script.rounds, began: look.at, ended: look.at + .microseconds(50))
    return heartbeat?.take(reading, at: look, isParked: isIdle)
  }

  private mutating func answer(_ look: ThreadObservation) -> PassSight? {
    guard let log = ping else { return nil }
    if log.isOutstanding {
      return ping?.see(isTaken: !script.wakeUp.isRaised, at: look, isParked: script.isParked).sight
    }
    if !detector.isSettled, log.mayRaise(at: look, isParked: script.isParked) {
      script.wakeUp.raise()
      ping?.raise(from: look.at, to: look.at)
    }
    return log.sight()
  }

  /// The home is known, and a breakpoint armed behind its wait.
  static func withBreakpoint(shots: Int) -> Watched {
    var watched = Watched()
    watched.learnEpoll()
    watched.armBreakpoint(shots: shots)
    return watched
  }

  mutating func armBreakpoint(shots: Int) {
    script.breakpoint = ScriptedBreakpoint(shots: shots, armedAt: script.now)
  }

  /// Parks in epoll 5, with a few returns, so that the home is learned.
  mutating func learnEpoll() {
    for _ in 0..<4 {
      script.block(in: SystemCallNumber.epollWait, 5)
      stay(.milliseconds(100))
      script.run(.microseconds(100))
    }
  }

  /// Parks four times in a poll of each of these sets.
  mutating func idleInSets(_ sets: [[Int32]], depth: UInt64) {
    for set in sets {
      for _ in 0..<4 {
        script.block(in: SystemCallNumber.poll, 0x5000, depth: depth, set: set)
        stay(.milliseconds(100))
        script.run(.milliseconds(1))
      }
    }
  }

  mutating func park() {
    script.block(in: SystemCallNumber.epollWait, 5)
    look()
  }

  var ended: [Stall] {
    actions.compactMap { if case .report(let stall) = $0, stall.state == .ended { stall } else { nil } }
  }

  /// Reported stalls, without the doubtful.
  var stalls: [Stall] {
    actions.compactMap { action in
      switch action {
      case .none: nil
      case .captureAndReport(let stall), .report(let stall): stall.proof == .none ? nil : stall
      }
    }
  }
}
