// The watch thread: looks when it is time, judges, captures, and hands on what it has to say. It waits for nobody.

internal import CommandLineOptions
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
  private let options: Options
  private let process: WatchedProcess
  private let signals: SignalDescriptor
  private let queue: ReportQueue
  private let camera: ThreadCamera
  private let meaning: (ReceivedSignal) -> SignalMeaning

  private var poll: PollSet
  private var observer: ProcObserver
  private var detector: StallDetector
  private var busyThreads: BusyThreadWatch
  private var remarks: LoopRemarks
  private var image: ImageMark?
  private var sight: WaitSight
  private var programChanges = ProgramChanges()
  private var lastLook: ThreadObservation?
  private var nextLook: Instant
  private var missingStack = MissingStack()
  private var hasForewarned = false
  private var companions: CompanionStacks
  private let endsAt: Instant?
  /// The last words are said; signals still come.
  private var isFinished = false
  private(set) var totals: WatchTotals

  init(
    _ options: Options, _ process: WatchedProcess, signals: consuming SignalDescriptor,
    observer: consuming ProcObserver, camera: ThreadCamera, queue: ReportQueue,
    meaning: @escaping (ReceivedSignal) -> SignalMeaning
  ) throws(Errno) {
    let now = Instant.now
    poll = PollSet([signals.rawValue, camera.handle.rawValue, queue.news.rawValue])
    self.options = options
    self.process = process
    self.signals = signals
    sight = observer.sight
    camera.denied = observer.sight.refusal
    self.observer = observer
    self.camera = camera
    self.queue = queue
    self.meaning = meaning
    detector = StallDetector(threshold: options.threshold, interval: options.interval)
    busyThreads = BusyThreadWatch(
      process: process.id, thresholdPercent: options.cpuThreshold, window: options.cpuWindow)
    detector.isBlindToLoop = options.cpuOnly
    companions = CompanionStacks(options.stacks, process: process.id)
    remarks = LoopRemarks(
      process: process, began: now,
      stateFacts: options.cpuOnly ? StateFacts(threshold: options.threshold) : nil)
    totals = WatchTotals(began: now, generation: process.generation)
    nextLook = now
    endsAt = options.duration.map { now + $0 }
  }

  /// The first look. Whatever the target does after this is seen as a change.
  func begin() {
    nextLook = .now
    look(dueAt: nextLook)
  }

  /// Watches until there is a reason to end, then says what it all added up to.
  func run() -> WatchEnd {
    let end = watch()
    finish(end)
    return end
  }

  private func watch() -> WatchEnd {
    while true {
      // Only broken arguments can make this fail.
      try? poll.wait(untilNanoseconds: min(nextLook, endsAt ?? nextLook).nanoseconds)
      if poll.isReady(1) {
        // What has come by now was meant for the target.
        return takeSignals() ?? .targetEnded
      }
      if poll.isReady(2) {
        queue.news.acknowledge()
        if queue.isOutputGone { return .readerGone }
      }
      if poll.isReady(0), let end = takeSignals() { return end }
      let now = Instant.now
      if now >= nextLook { look(dueAt: nextLook) }
      if let endsAt, now >= endsAt { return .durationOver }
      if let count = options.count, detector.statistics.stalls.count >= count, !detector.isStalled {
        return .enoughStalls
      }
    }
  }

  private func takeSignals(isOver: Bool = false) -> WatchEnd? {
    while let signal = signals.next() {
      switch meaning(signal) {
      case .endOnceOver where isOver: return .asked
      case .nothing, .endOnceOver: break
      case .end: return .asked
      case .dump: dumpThreads()
      case .captureThen(let act):
        captureStall()
        act()
      case .tell(let text): tell(text)
      case .dumpThen(let text, let act):
        tell(text)
        captureStall()
        dumpThreads()
        act()
      case .reopenOutput: queue.push(.reopenOutput)
      }
    }
    return nil
  }

  private func look(dueAt due: Instant) {
    let seen: ThreadObservation
    do throws(Errno) {
      seen = try observe()
      if seen.state.hasEnded { throw .noSuchProcess }
    } catch {
      lookFailed(error)
      return
    }
    totals.countLook(at: seen.at, dueAt: due, tolerance: detector.alertInterval)
    if let now = observer.image, now.isThere, now != image { take(now) }
    if observer.sight != sight { take(observer.sight) }
    let (action, next) = detector.observe(seen) { observer.blockStart(of: seen) }
    lastLook = seen
    if !detector.isSettled, !hasForewarned {
      queue.push(.stallMayCome)
      hasForewarned = true
    }
    if let stall = missingStack.stall, detector.isStalled, action == .none {
      let thread = capture(stall, seen)
      queue.push(.lateStack(episode: stall.id, thread))
      missingStack.note(thread, of: stall)
    }
    perform(action, seen)
    for busy in busyThreads.proceed(at: seen.at) { report(busy) }
    tellProgramChanges(at: seen.at)
    if let remark = remarks.next(after: seen, detector) { queue.push(.notice(remark.kind, remark.text)) }
    nextLook = busyThreads.isScanning ? min(next, seen.at + .milliseconds(10)) : next
  }

  private func observe() throws(Errno) -> ThreadObservation {
    try observer.look { [camera, process] address, length, buffer in
      camera.readMemory(of: process.thread.threadID, at: address, length, into: &buffer)
    }
  }

  /// The thread may be gone long before the process is: the handle tells when that has ended.
  private func lookFailed(_ error: Errno) {
    let now = Instant.now
    nextLook = now + detector.alertInterval
    if error.meansTaskGone { perform(detector.interrupt(.threadEnded), nil) }
    for busy in busyThreads.proceed(at: now) { report(busy) }
    if let remark = remarks.lookFailed(error) { queue.push(.notice(remark.kind, remark.text)) }
  }

  private func take(_ newImage: ImageMark) {
    defer {
      image = newImage
      remarks.whyNoLoop = camera.executableFacts()?.whyNoLoop
      detector.isBlindToLoop = options.cpuOnly || remarks.whyNoLoop != nil
    }
    guard image != nil else { return }
    perform(detector.interrupt(.targetReplaced), nil)
    detector.forget()
    programChanges.count += 1
  }

  private func tellProgramChanges(at now: Instant, isLast: Bool = false) {
    guard let text = programChanges.sentence(process.id, at: now, isLast: isLast) else { return }
    queue.push(.notice(.targetReplaced, text))
  }

  /// Waits seen by their kind and waits seen in full are not comparable: the loop has to be found anew.
  private func take(_ newSight: WaitSight) {
    sight = newSight
    camera.denied = newSight.refusal
    perform(detector.interrupt(.rightsChanged), nil)
    detector.forget()
    let rights = WatchRights(process.id, options, newSight)
    queue.push(.notice(.rightsChanged, rights.remark))
  }

  private func perform(_ action: StallAction, _ look: ThreadObservation?) {
    switch action {
    case .none: break
    case .captureAndReport(let stall):
      let thread = capture(stall, look)
      companions.take(beside: thread, episode: stall.id, camera) { [queue] in queue.push(.companion($0, $1)) }
      queue.push(.stall(stall, thread))
      missingStack.note(thread, of: stall)
    case .report(let stall): queue.push(.stall(stall, nil))
    }
  }

  private func capture(_ stall: Stall, _ look: ThreadObservation?) -> CapturedThread {
    let thread = camera.capture(
      process.thread.threadID, role: process.thread.role, look: look.map(detector.loop.naming), stall: stall)
    if let after = try? observe() { detector.absorbCapture(after) }
    return thread
  }

  private func report(_ busy: BusyThread) {
    guard busy.state == .busy else { return }
    totals.busyThreads += 1
    let role: ThreadRole = busy.threadID == process.id ? .main : .worker
    queue.push(.busyThread(busy, camera.capture(busy.threadID, role: role)))
  }

  private func tell(_ text: String) {
    if isFinished { Program.complain(text) } else { queue.push(.notice(.timeLimit, text)) }
  }

  /// The stall that is going on, while there is something to capture.
  private func captureStall() {
    guard !isFinished, detector.isStalled else { return }
    look(dueAt: .now)
    guard let stall = detector.ongoing else { return }
    queue.push(.lateStack(episode: stall.id, capture(stall, lastLook)))
  }

  /// SIGUSR1. Bounded, since every stack waits in the queue as an open file.
  private func dumpThreads() {
    if isFinished { return }
    let began = Instant.now
    let parked = lastLook?.isBlocked == true && detector.isSettled ? process.thread.threadID : nil
    let stoppedBefore = camera.targetStopped
    var dump = ThreadDump(process: process.id, most: 256)
    dump.take(camera, parked: parked) { queue.push(.dumpedThread($0)) }
    let took = Instant.now - began
    queue.push(.dumpDone(dump.summary(took: took, stopped: camera.targetStopped - stoppedBefore)))
  }

  /// The report thread has written its last word, or a signal asks to end at once; true if it does.
  func waitForReports() -> Bool {
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
      if poll.isReady(2) { queue.news.acknowledge() }
      if poll.isReady(0) { _ = takeSignals() }
    }
  }

  private func finish(_ end: WatchEnd) {
    defer { isFinished = true }
    // Once more, so that what is captured is what is spoken of.
    if end != .targetEnded { look(dueAt: .now) }
    if end != .targetEnded, detector.isStalled, let lastLook {
      let action = detector.interrupt(.watchEnded)
      if case .report(let stall) = action { queue.push(.stall(stall, capture(stall, lastLook))) }
    } else {
      perform(detector.interrupt(end == .targetEnded ? .targetExited : .watchEnded), nil)
    }
    tellProgramChanges(at: .now, isLast: true)
    totals.finish(
      detector.statistics, targetStopped: camera.targetStopped, helperCPU: camera.helperCPUTime,
      at: .now)
  }
}
