// Has the passes of a thread's loop watched, wherever its home turns out to be, by all that can see them.

internal import CommandLineOptions
internal import Observation
internal import Reports
internal import StallCore

struct HomePasses: ~Copyable {
  private let thread: Int32
  private let isOff: Bool
  private var ping: LoopPing?
  private(set) var responseTimes = ResponseTimes()
  /// What the first stack said of the home.
  private var reading: StackReading?
  private var monitor: PassMonitor?
  /// The home whose returns are watched.
  private var home: Multiplexer?
  /// A home whose returns turned out to be elsewhere.
  private var mistaken: Multiplexer?
  /// The quiet stretch of the breakpoint in which something else saw a pass, and how many.
  private var contradicted: (since: Instant, passes: Int)?
  private var remark: NoticeRecord?

  /// A counter may be read between a pass and the instruction that counts it; two cannot.
  private static let mostContradictions = 2

  init(thread: Int32, _ options: Options, isOff: Bool) {
    self.thread = thread
    self.isOff = isOff || options.noBreakpoint
    ping = options.ping ? LoopPing(threshold: options.threshold) : nil
  }

  /// What is known of passes at this look, the one after those that `detector` has seen.
  mutating func look(
    at look: ThreadObservation, after detector: StallDetector, _ context: WatchContext
  ) -> PassSight? {
    let home = detector.loop.home
    if self.home != home?.site.multiplexer { stop() }
    let isParked = home.map { look.isWait(on: $0) } ?? false
    // Whether what held the loop up lasted until the park is worth a reading.
    let isIdle = isParked && !detector.isHeldUp(at: look.at)
    // The breakpoint last: what it has not seen by then, the others cannot have seen before.
    let beat =
      context.loopThread == thread
      ? context.heartbeat?.look(at: look, isParked: isIdle, thread, context.camera) : nil
    let answer = ping?.look(
      at: look, home, reading, isParked: isParked, isAtWork: !detector.isSettled, context.camera)
    if let time = ping?.takeResponseTime() { note(context.kept(time), at: look, context) }
    return combine(with: PassSight.combined(beat, answer), at: look, detector)
  }

  /// Nothing is to be done at a look that finds the thread where it was.
  var isSettled: Bool { mutating get { monitor?.isSettled ?? true } }

  /// Something new may be known of the home's wait.
  mutating func learn(from inquiry: borrowing HomeInquiry, of home: HomeCandidate?) {
    guard let home else { return }
    reading = inquiry.reading(of: home)
    if !isOff { watch(home, inquiry.returns(of: home)) }
  }

  /// A new program runs in the process.
  mutating func forget(_ context: WatchContext) {
    stop()
    if context.loopThread == thread { context.heartbeat?.forget() }
    (mistaken, contradicted, reading) = (nil, nil, nil)
    ping?.forget()
  }

  /// Says what is, or is not, relied on.
  mutating func tell(_ context: WatchContext) {
    if let remark = remark.take() ?? ping?.takeRemark() ?? context.heartbeat?.takeRemark() {
      context.queue.push(.notice(remark))
    }
  }

  private mutating func note(_ responseTime: Duration, at look: ThreadObservation, _ context: WatchContext) {
    responseTimes.add(responseTime)
    context.recorder?.pingTaken(after: responseTime, at: look.at)
  }

  private mutating func combine(
    with other: PassSight?, at look: ThreadObservation, _ detector: StallDetector
  ) -> PassSight? {
    var sight = monitor?.look(
      at: look, wait: detector.loop.home.flatMap { look.wait(by: $0) },
      isHeldUp: detector.isHeldUp(at: look.at))
    if let other, let seen = sight, isContradicted(seen, by: other) {
      sight = nil
      mistaken = self.home
      stop()
      remark = NoticeRecord(
        .breakpoint,
        "the \(other.passSource.rawValue) sees the loop come round where the breakpoint does not; "
          + "the breakpoint is not used any more")
    }
    return PassSight.combined(sight, other)
  }

  private mutating func isContradicted(_ sight: PassSight, by other: PassSight) -> Bool {
    guard other.contradicts(sight), let since = sight.quietSince else { return false }
    let passes = contradicted?.since == since ? contradicted?.passes ?? 0 : 0
    contradicted = (since, passes + 1)
    return passes + 1 >= Self.mostContradictions
  }

  private mutating func stop() {
    home = nil
    monitor?.forgetHome()
  }

  private mutating func watch(_ home: HomeCandidate, _ returns: [(site: Site, returnsTo: WaitReturn)]) {
    guard let address = returns.last?.returnsTo.programCounter, home.site.multiplexer != mistaken else {
      return
    }
    if monitor == nil { monitor = PassMonitor(thread: thread) }
    let there = returns.filter { $0.returnsTo.programCounter == address }
    monitor?.setHome(
      address: address, stackPointers: there.map(\.returnsTo.stackPointer),
      wrappers: there.compactMap { WaitWrapper($0.site, returnsTo: $0.returnsTo) })
    self.home = home.site.multiplexer
  }
}

extension ThreadObservation {
  /// Where this home parks, as far as one look tells.
  fileprivate func isWait(on home: HomeCandidate) -> Bool {
    guard case .blocked(let call) = activity else { return false }
    return Site(call, descriptors: descriptors).map(home.matches) ?? false
  }

  /// In a wait on that home, or on something that certainly is not it.
  fileprivate func wait(by home: HomeCandidate) -> LoopWait? {
    guard case .blocked(let call) = activity, let site = Site(call, descriptors: descriptors),
      site.isOnKnownObject, home.site.isOnKnownObject
    else { return nil }
    return home.matches(site) ? .home(call) : .foreign(call)
  }
}
