// One thread that is followed as one that runs a loop: it is looked at, judged, and captured when it stalls.

internal import CommandLineOptions
internal import Linux
internal import Observation
internal import Reports
internal import StallCore

/// What the threads of one watch have in common.
final class WatchContext {
  let options: Options
  let process: WatchedProcess
  let camera: ThreadCamera
  let queue: ReportQueue
  fileprivate var companions: CompanionStacks
  fileprivate var programChanges = ProgramChanges()
  private var episodes = 0

  init(_ options: Options, _ process: WatchedProcess, camera: ThreadCamera, queue: ReportQueue) {
    self.options = options
    self.process = process
    self.camera = camera
    self.queue = queue
    companions = CompanionStacks(options.stacks, process: process.id)
  }

  /// What threads that are not followed any more have added up to.
  private(set) var retiredLooks = LookCount()
  private(set) var retiredStatistics = LoopStatistics()

  /// Detectors count their own episodes; in the records of a watch each has a number of its own.
  fileprivate func newEpisode() -> Int {
    episodes += 1
    return episodes
  }

  /// Follows these no longer.
  func retire(_ threads: inout [FollowedThread], where isOver: (FollowedThread) -> Bool) {
    for thread in threads where isOver(thread) {
      thread.end(thread.missedLooks > 0 ? .threadEnded : .threadChanged)
      retiredLooks.add(thread.looks)
      retiredStatistics.add(thread.detector.statistics)
    }
    threads.removeAll(where: isOver)
  }

  func tell(_ kind: NoticeKind, _ text: String) { queue.push(.notice(kind, text)) }

  func tellProgramChanges(at now: Instant, isLast: Bool = false) {
    guard let text = programChanges.sentence(process.id, at: now, isLast: isLast) else { return }
    tell(.targetReplaced, text)
  }
}

final class FollowedThread {
  let record: ThreadRecord
  private let context: WatchContext
  private var observer: ProcObserver
  private(set) var detector: StallDetector
  private var remarks: LoopRemarks
  private var image: ImageMark?
  private var sight: WaitSight
  private var missingStack = MissingStack()
  private var hasForewarned = false
  /// The number of the episode that the detector spoke of last, its own and that of the watch.
  private var episode: (own: Int, inWatch: Int) = (0, 0)
  private(set) var lastLook: ThreadObservation?
  private(set) var nextLook: Instant
  private(set) var looks = LookCount()
  /// Looks that found no such thread, one after the other.
  private(set) var missedLooks = 0

  init(_ record: ThreadRecord, _ context: WatchContext, observer: consuming ProcObserver) {
    self.record = record
    self.context = context
    let options = context.options
    sight = observer.sight
    self.observer = observer
    detector = StallDetector(threshold: options.threshold, interval: options.interval)
    detector.isBlindToLoop = options.cpuOnly
    nextLook = .now
    remarks = LoopRemarks(
      process: context.process.id, thread: record, began: nextLook,
      stateFacts: options.cpuOnly ? StateFacts(threshold: options.threshold) : nil)
  }

  func look(dueAt due: Instant) {
    let seen: ThreadObservation
    do throws(Errno) {
      seen = try observe()
      if seen.state.hasEnded { throw .noSuchProcess }
    } catch {
      lookFailed(error)
      return
    }
    missedLooks = 0
    looks.count(at: seen.at, dueAt: due, tolerance: detector.alertInterval)
    if let now = observer.image, now.isThere, now != image { take(now) }
    if observer.sight != sight { take(observer.sight) }
    let (action, next) = detector.observe(seen) { observer.blockStart(of: seen) }
    lastLook = seen
    nextLook = next
    forewarn()
    if let stall = missingStack.stall, detector.isStalled, action == .none {
      let thread = capture(stall, seen)
      context.queue.push(.lateStack(episode: number(of: stall), thread))
      missingStack.note(thread, of: stall)
    }
    perform(action, seen)
    if let remark = remarks.next(after: seen, detector) { context.tell(remark.kind, remark.text) }
  }

  /// A stall may come: what names its stack is started.
  private func forewarn() {
    guard !detector.isSettled, !hasForewarned else { return }
    context.queue.push(.stallMayCome)
    hasForewarned = true
  }

  private func observe() throws(Errno) -> ThreadObservation {
    let (camera, thread) = (context.camera, record.threadID)
    return try observer.look { address, length, buffer in
      camera.readMemory(of: thread, at: address, length, into: &buffer)
    }
  }

  /// The thread may be gone long before the process is: the handle tells when that has ended.
  private func lookFailed(_ error: Errno) {
    nextLook = .now + detector.alertInterval
    missedLooks += 1
    if error.meansTaskGone { perform(detector.interrupt(.threadEnded), nil) }
    if let remark = remarks.lookFailed(error) { context.tell(remark.kind, remark.text) }
  }

  private func take(_ newImage: ImageMark) {
    defer {
      image = newImage
      remarks.whyNoLoop = context.camera.executableFacts()?.whyNoLoop
      detector.isBlindToLoop = context.options.cpuOnly || remarks.whyNoLoop != nil
    }
    guard image != nil else { return }
    perform(detector.interrupt(.targetReplaced), nil)
    detector.forget()
    context.programChanges.count += 1
  }

  /// Waits seen by their kind and waits seen in full are not comparable: the loop has to be found anew.
  private func take(_ newSight: WaitSight) {
    sight = newSight
    context.camera.denied = newSight.refusal
    perform(detector.interrupt(.rightsChanged), nil)
    detector.forget()
    context.tell(.rightsChanged, WatchRights(context.process.id, context.options, newSight).remark)
  }

  private func perform(_ action: StallAction, _ look: ThreadObservation?) {
    let (queue, camera) = (context.queue, context.camera)
    switch action {
    case .none: break
    case .captureAndReport(let stall):
      let thread = capture(stall, look)
      context.companions.take(beside: thread, episode: number(of: stall), camera) {
        queue.push(.companion($0, $1))
      }
      queue.push(.stall(numbered(stall), record, thread))
      missingStack.note(thread, of: stall)
    case .report(let stall): queue.push(.stall(numbered(stall), record, nil))
    }
  }

  private func capture(_ stall: Stall, _ look: ThreadObservation?) -> CapturedThread {
    let thread = context.camera.capture(
      record.threadID, role: record.role, look: look.map(detector.loop.naming), stall: stall)
    if let after = try? observe() { detector.absorbCapture(after) }
    return thread
  }

  private func number(of stall: Stall) -> Int {
    if stall.id != episode.own { episode = (stall.id, context.newEpisode()) }
    return episode.inWatch
  }

  private func numbered(_ stall: Stall) -> Stall {
    var stall = stall
    stall.id = number(of: stall)
    return stall
  }

  /// The stall that is going on, while there is something to capture.
  func captureStall() {
    guard detector.isStalled else { return }
    look(dueAt: .now)
    guard let stall = detector.ongoing else { return }
    context.queue.push(.lateStack(episode: number(of: stall), capture(stall, lastLook)))
  }

  /// It waits, again and again, in something that is made for loops or for requests.
  var runsLoop: Bool {
    guard missedLooks < 2, let home = detector.loop.home, detector.loop.isJudgeable else { return false }
    return home.rank >= 2 && home.site.kind != .signal && home.site.kind != .children
  }

  /// Asleep in its loop's wait, as far as is known.
  var isParked: Bool { lastLook?.isBlocked == true && detector.isSettled }

  /// No more looks will come.
  func end(_ reason: Interruption) {
    if reason != .targetExited, detector.isStalled, let lastLook {
      let action = detector.interrupt(reason)
      if case .report(let stall) = action {
        context.queue.push(.stall(numbered(stall), record, capture(stall, lastLook)))
      }
    } else {
      perform(detector.interrupt(reason), nil)
    }
  }
}

/// How often was looked, and how often that was late.
struct LookCount: Sendable {
  private(set) var all = 0
  private(set) var late = 0

  mutating func count(at moment: Instant, dueAt due: Instant, tolerance: Duration) {
    all += 1
    if moment - due > tolerance { late += 1 }
  }

  mutating func add(_ other: LookCount) {
    all += other.all
    late += other.late
  }
}
