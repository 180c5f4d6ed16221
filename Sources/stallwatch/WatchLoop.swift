// The watch thread: looks when it is time, judges, captures, and hands on what it has to say. It waits for nobody.

internal import CommandLineOptions
internal import Glibc
internal import Linux
internal import Observation
internal import Reports
internal import StallCore

/// Why watching ended.
enum WatchEnd {
  case targetEnded
  case asked
  case durationOver
  case enoughStalls
  case readerGone
}

final class WatchLoop {
  private let context: WatchContext
  private let signals: SignalDescriptor
  private let requests: ProgramRequests?
  private let meaning: (ReceivedSignal) -> SignalMeaning

  private var poll: PollSet
  /// The first is the one that the watch began with.
  private var threads: [FollowedThread]
  private var roster: ThreadRoster
  private var busyThreads: BusyThreadWatch
  private var waits: OwnWaits
  /// A signal has let us go on since the last wait began.
  private var wasContinued = false
  private var nextScan = Instant(nanoseconds: .max)
  private let endsAt: Instant?
  /// The last words are said; signals still come.
  private var isFinished = false
  private(set) var totals: WatchTotals

  init(
    _ context: WatchContext, signals: consuming SignalDescriptor, first: FollowedThread?,
    requests: ProgramRequests?, meaning: @escaping (ReceivedSignal) -> SignalMeaning
  ) throws(Errno) {
    let now = Instant.now
    let (options, process) = (context.options, context.process)
    poll = PollSet([signals.rawValue, context.camera.handle.rawValue, context.queue.news.rawValue])
    self.context = context
    self.signals = signals
    self.requests = requests
    self.meaning = meaning
    threads = first.map { [$0] } ?? []
    roster = ThreadRoster(options.thread ?? .auto, process: process.id, began: now)
    busyThreads = BusyThreadWatch(
      process: process.id, thresholdPercent: options.cpuThreshold, window: options.cpuWindow,
      takesStacks: context.camera.maySample)
    waits = OwnWaits(
      shortestInterval: LookSchedule(threshold: options.threshold, interval: options.interval).alertInterval)
    totals = WatchTotals(began: now, generation: process.generation)
    endsAt = options.duration.map { now + $0 }
  }

  /// The first look. Whatever the target does after this is seen as a change.
  func begin() { look() }

  /// Watches until there is a reason to end, then says what it all added up to.
  func run() -> WatchEnd {
    let end = watch()
    finish(end)
    return end
  }

  private func watch() -> WatchEnd {
    while true {
      let (began, due) = (Instant.now, min(nextMoment, endsAt ?? nextMoment))
      wasContinued = false
      // Only broken arguments can make this fail.
      try? poll.wait(untilNanoseconds: due.nanoseconds)
      let awake = Instant.now
      if poll.isReady(1) {
        // What has come by now was meant for the target.
        return takeSignals() ?? .targetEnded
      }
      if poll.isReady(2) {
        context.queue.news.acknowledge()
        if context.queue.isOutputGone { return .readerGone }
      }
      if poll.isReady(0), let end = takeSignals() { return end }
      if let gap = waits.end(
        began: began, dueAt: due, endedAt: awake, wasContinued: wasContinued)
      {
        take(gap)
      }
      let now = Instant.now
      if now >= nextMoment { look() }
      if let endsAt, now >= endsAt { return .durationOver }
      if let count = context.options.count, stalls >= count, !threads.contains(where: \.detector.isStalled) {
        return .enoughStalls
      }
    }
  }

  private var stalls: Int {
    threads.reduce(context.retiredStatistics.stalls.count) { $0 + $1.detector.statistics.stalls.count }
  }

  /// When there is something to do next.
  private var nextMoment: Instant {
    var moment = min(nextScan, roster.nextScan)
    for thread in threads where thread.nextLook < moment { moment = thread.nextLook }
    return moment
  }

  /// At every thread whose time has come.
  private func look() {
    let now = Instant.now
    for thread in threads where thread.nextLook <= now { thread.look(dueAt: thread.nextLook) }
    if now >= roster.nextScan { roster.proceed(at: now, &threads, context, follow: follow) }
    if busyThreads.isDue(at: now) { lookForBusyThreads(at: now) }
    if context.programChanges.count > 0 { context.tellProgramChanges(at: now) }
  }

  private func lookForBusyThreads(at now: Instant) {
    let busy = busyThreads.proceed(at: now)
    for thread in busy { report(thread) }
    if !busy.isEmpty { busyThreads.forgetSamples() }
    nextScan = busyThreads.nextMoment(after: now) ?? Instant(nanoseconds: .max)
  }

  private func takeSignals(isOver: Bool = false) -> WatchEnd? {
    defer { noteRequests() }
    while let signal = signals.next() {
      if signal.number == SIGCONT { wasContinued = true }
      switch meaning(signal) {
      case .endOnceOver where isOver: return .asked
      case .nothing, .endOnceOver: break
      case .end: return .asked
      case .dump: dumpThreads()
      case .captureThen(let act):
        captureStalls()
        act()
      case .tell(let text): tell(text)
      case .dumpThen(let text, let act):
        tell(text)
        captureStalls()
        dumpThreads()
        act()
      case .reopenOutput: context.queue.push(.reopenOutput)
      }
    }
    return nil
  }

  /// Nil: the thread has ended.
  private func follow(_ record: ThreadRecord) -> FollowedThread? {
    let observer = try? LoopObserver(
      process: context.process.id, thread: record.threadID, context.observerWay)
    guard let observer else { return nil }
    let thread = FollowedThread(record, context, observer: observer)
    thread.look(dueAt: .now)
    return thread
  }

  private func take(_ gap: WatchGap) {
    for thread in threads { thread.note(gap) }
    if let remark = waits.remark(gap, at: .now) { context.tell(remark.kind, remark.text) }
  }

  private func noteRequests() {
    guard let requests, !isFinished else { return }
    for fact in requests.take() { threads.first?.note(fact) }
  }

  private func report(_ busy: BusyThread) {
    guard busy.state == .busy else { return }
    totals.busyThreads += 1
    let role: ThreadRole = busy.threadID == context.process.id ? .main : .worker
    let copy = context.camera.capture(busy.threadID, role: role)
    let thread = ThreadRecord(threadID: copy.threadID, name: copy.name, role: role)
    context.queue.push(.busyThread(busy, copy, busyThreads.samples(of: thread)))
  }

  private func tell(_ text: String) {
    if isFinished { Program.complain(text) } else { context.tell(.timeLimit, text) }
  }

  private func captureStalls() {
    guard !isFinished else { return }
    for thread in threads { thread.captureStall() }
  }

  /// SIGUSR1. Bounded, since every stack waits in the queue as an open file.
  private func dumpThreads() {
    if isFinished { return }
    let began = Instant.now
    let (camera, queue) = (context.camera, context.queue)
    let stoppedBefore = camera.targetStopped
    var dump = ThreadDump(process: context.process.id, most: 256)
    dump.take(camera, parked: Set(threads.filter(\.isParked).map(\.record.threadID))) {
      queue.push(.dumpedThreads($0))
    }
    let took = Instant.now - began
    queue.push(.dumpDone(dump.summary(took: took, stopped: camera.targetStopped - stoppedBefore)))
  }

  /// The report thread has written its last word, or a signal asks to end at once; true if it does.
  func waitForReports() -> Bool {
    let queue = context.queue
    // Without what stays ready, the end of the process.
    var poll = PollSet([signals.rawValue, queue.news.rawValue])
    while !queue.isFinished, !queue.isOutputGone {
      try? poll.wait()
      if poll.isReady(1) { queue.news.acknowledge() }
      if poll.isReady(0), takeSignals(isOver: true) == .asked { return true }
    }
    return false
  }

  /// Signals are still answered.
  func waitForTarget() {
    while true {
      try? poll.wait()
      if poll.isReady(1) { return }
      if poll.isReady(2) { context.queue.news.acknowledge() }
      if poll.isReady(0) { _ = takeSignals() }
    }
  }

  private func finish(_ end: WatchEnd) {
    defer { isFinished = true }
    // Once more, so that what is captured is what is spoken of.
    if end != .targetEnded { for thread in threads { thread.look(dueAt: .now) } }
    for thread in threads { thread.end(end == .targetEnded ? .targetExited : .watchEnded) }
    context.tellProgramChanges(at: .now, isLast: true)
    let probe = context.takeProbeSummary()
    context.recorder?.finish()
    var looks = context.retiredLooks
    var statistics = context.retiredStatistics
    var responseTimes = context.retiredResponseTimes
    for thread in threads {
      responseTimes.add(thread.responseTimes)
      looks.add(thread.looks)
      statistics.add(thread.detector.statistics)
    }
    totals.finish(statistics, looks, phases: context.phases, probe: probe, responseTimes, at: .now)
    totals.addCost(
      targetStopped: context.camera.targetStopped, helperCPU: context.camera.helperCPUTime)
  }
}
