// What is said once about the loop, so that nobody is left guessing.

internal import Linux
internal import Reports
internal import StallCore

struct LoopRemarks {
  typealias Remark = NoticeRecord

  private let process: Int32
  private let thread: ThreadRecord
  private let began: Instant
  /// Others are followed too: what is no multiplexer is nothing to speak of, nor is a thread without a loop.
  private let isOneOfMany: Bool
  /// Where the loop is no subject.
  private var stateFacts: StateFacts?
  /// Why the program can have no loop that could be found; see `ExecutableFacts`.
  var whyNoLoop: String?
  private var toldHome: Site?
  private var hasToldNoLoop = false
  private var hasToldChild = false
  private var looksAtEndedThread = 0
  private var hasToldFailure = false
  private var toldPause: ThreadState?

  /// A loop is spoken of after this many waits on it, and missed after this long.
  private static let visitsUntilFound = 3
  private static let patience: Duration = .seconds(10)
  /// What its stack says is waited for, but not for ever.
  private static let patienceWithStack: Duration = .seconds(5)
  /// Who waits for a child this long does nothing else.
  private static let patienceWithChild: Duration = .seconds(1)

  init(
    process: Int32, thread: ThreadRecord, began: Instant, stateFacts: StateFacts?, isOneOfMany: Bool = false
  ) {
    self.isOneOfMany = isOneOfMany
    self.process = process
    self.thread = thread
    self.stateFacts = stateFacts
    self.began = began
  }

  mutating func next(
    after look: ThreadObservation, _ detector: StallDetector, _ inquiry: borrowing HomeInquiry
  ) -> Remark? {
    looksAtEndedThread = 0
    if look.state.isPaused != (toldPause != nil) { return pause(look.state) }
    if stateFacts != nil { return stateFacts?.observe(look).map(remark) }
    if let home = detector.loop.home, let remark = launcher(home) { return remark }
    if let home = detector.loop.home, detector.loop.isJudgeable {
      if inquiry.isWaiting, look.at - began < Self.patienceWithStack { return nil }
      return found(home, inquiry, detector.statistics)
    }
    if whyNoLoop == nil, isOneOfMany, detector.loop.given == nil { return nil }
    let patience = whyNoLoop == nil ? Self.patience : .milliseconds(100)
    guard !hasToldNoLoop, look.at - began > patience else { return nil }
    hasToldNoLoop = true
    return NoticeRecord(.noLoop, whyNoLoop ?? noLoop(detector.loop))
  }

  private func remark(_ fact: StateFact) -> Remark {
    switch fact {
    case .uninterruptible(let time):
      NoticeRecord(
        .uninterruptible, "\(thread.spokenAsFollowed) has been in disk wait (D) for at least \(time.spoken)")
    case .starved(let time):
      NoticeRecord(
        .starved, "\(thread.spokenAsFollowed) was ready to run for \(time.spoken) while others had the CPU")
    }
  }

  func noLoop(_ loop: EventLoopModel) -> String {
    let lastSeen = (loop.home ?? loop.presentWait?.candidate).map { "last seen \($0.spoken)" }
    if let given = loop.given {
      return "\(thread.spokenAsFollowed) has not waited on --home \(given.text) "
        + "(\(lastSeen ?? "it has not waited for anything")); nothing is judged until it does"
    }
    let none = "no event loop found so far: \(thread.spokenAsFollowed)"
    let outlook = "nothing is judged until it comes back to one"
    guard let lastSeen else { return "\(none) has not waited for anything; \(outlook)" }
    return "\(none) has not come back to a wait (\(lastSeen)); \(outlook)"
  }

  private mutating func found(
    _ home: HomeCandidate, _ inquiry: borrowing HomeInquiry, _ statistics: LoopStatistics
  ) -> Remark? {
    // All its sleeps look the same, so nothing was found; or it was told when it began.
    if home.site.kind == .unseen || home.site.kind == .mainQueue { return nil }
    if isOneOfMany, !home.isMultiplexer, thread.role != .loop, thread.role != .main { return nil }
    guard toldHome.map({ !home.site.sounds(like: $0) }) ?? true,
      home.visits >= Self.visitsUntilFound || home.isLongKnown
    else { return nil }
    let reading = inquiry.reading(of: home)
    // Where `dispatchMain()` leaves the first thread.
    if home.site.kind == .signal, reading?.loopFamily == "libdispatch" { return nil }
    toldHome = home.site
    let share = statistics.parkedShare
    let loop = LoopRecord(
      threadID: thread.threadID, home: HomeSelector(home), reading: reading, parkedShare: share)
    let owner = thread.role == .main ? "" : ", \(thread.spokenAsFollowed)"
    var text = "loop found: \(home.spoken)"
    if let family = reading?.loopFamily { text += " (\(family))" }
    text += owner
    if let share { text += ", parked \(Int((share * 100).rounded())) %" }
    if let nesting = reading?.nesting, nesting > 1 { text += ", nested \(nesting) deep" }
    return NoticeRecord(.loopFound, text, loop: loop)
  }

  /// A shell or a launcher: the program that is meant is another process.
  private mutating func launcher(_ home: HomeCandidate) -> Remark? {
    guard !hasToldChild, home.site.multiplexer == .children,
      home.lastSeen - home.firstSeen > Self.patienceWithChild, let child = onlyChild
    else { return nil }
    hasToldChild = true
    return NoticeRecord(.noLoop, "\(thread.spokenAsFollowed) only waits for \(child)")
  }

  /// "name (pid)" of the first child, for a shell or a launcher that only waits.
  private var onlyChild: String? {
    guard let text = try? readPseudoFile("/proc/\(process)/task/\(thread.threadID)/children")
    else {
      return nil
    }
    var position = 0
    guard let id = text.span.decimal(at: &position) else { return nil }
    let name =
      (try? readPseudoFile("/proc/\(id)/comm")).map { ByteString($0.dropLast()).escaped } ?? "process"
    return "\(name) (pid \(id)); stallwatch --pid \(id) watches that"
  }

  /// Only at the second look that finds it so: the threads of an ending process go one after the other.
  private mutating func threadEnded() -> Remark? {
    looksAtEndedThread += 1
    guard looksAtEndedThread == 2 else { return nil }
    let others = ThreadList.living(of: process)
    guard let other = others.first else { return nil }
    let isOne = others.count == 1
    let next = "stallwatch --pid \(process) --thread \(isOne ? "\(other)" : "TID")"
    return NoticeRecord(
      .threadEnded,
      "\(thread.spokenAsFollowed) has exited; \(others.count) \(isOne ? "thread" : "threads") still running, "
        + "watched for CPU time only; \(next) watches \(isOne ? "it" : "one of them")"
    )
  }

  private mutating func pause(_ state: ThreadState) -> Remark? {
    defer { toldPause = state.isPaused ? state : nil }
    switch (state, toldPause) {
    case (.stopped, _):
      return NoticeRecord(.stopped, "stopped by a signal; the time does not count until it goes on")
    case (.traced, _):
      return NoticeRecord(.traced, "stopped by a debugger; the time does not count until it goes on")
    case (.frozen, _):
      return NoticeRecord(.frozen, "frozen by its cgroup; the time does not count until it goes on")
    case (_, .some(let before)): return NoticeRecord(Self.kind(of: before), "it goes on")
    default: return nil
    }
  }

  private static func kind(of pause: ThreadState) -> NoticeKind {
    switch pause {
    case .traced: .traced
    case .frozen: .frozen
    default: .stopped
    }
  }

  mutating func lookFailed(_ error: Errno) -> Remark? {
    if error.meansTaskGone { return threadEnded() }
    guard !hasToldFailure else { return nil }
    hasToldFailure = true
    return NoticeRecord(.captureFailed, "cannot look into the process any more: \(error.text)")
  }
}

extension ThreadRecord {
  /// "the main thread", or which.
  var spokenAsFollowed: String {
    switch role {
    case .main: "the main thread"
    case .mainQueue: "the main queue"
    case .loop, .worker, .lockOwner: "thread \(threadID) \"\(name.text)\""
    }
  }
}

extension HomeCandidate {
  /// Idle in it for so long that waiting for a third visit would leave people guessing.
  fileprivate var isLongKnown: Bool { lastSeen - firstSeen > .seconds(2) }
}

extension Site {
  /// The same to a person: sets change, and a sleep is a sleep from whatever stack.
  fileprivate func sounds(like other: Site) -> Bool {
    switch (multiplexer, other.multiplexer) {
    case (.descriptorSet, .descriptorSet), (.unreadSet, .unreadSet), (.place, .place): kind == other.kind
    default: multiplexer == other.multiplexer
    }
  }
}
