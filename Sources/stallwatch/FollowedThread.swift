// One thread that is followed as one that runs a loop: it is looked at, judged, and captured when it stalls.

internal import CommandLineOptions
internal import Linux
internal import Observation
internal import Recordings
internal import Reports
internal import Stacks
internal import StallCore

final class FollowedThread {
  let record: ThreadRecord
  /// Its number in the watch, from 0.
  let index: Int
  /// Whom reports name: the thread itself; for the main queue, who works for it or last did.
  private(set) var subject: ThreadRecord
  let context: WatchContext
  private var observer: LoopObserver
  let detector: StallDetector
  var phases: PhaseModel
  private var surroundings: SurroundingsWatch
  var probe = FollowedProbe()
  private(set) var remarks: LoopRemarks
  private(set) var image: ImageMark?
  private var sight: WaitSight
  var missingStack = MissingStack()
  var sampling = StackSampling()
  private var inquiry = HomeInquiry()
  private var passes: HomePasses
  private var hasForewarned = false
  /// Nothing beside the thread itself is to be seen at each look.
  private let mayRest: Bool
  /// Of a new program the loop is found first, and its passes watched.
  private var mayRestFrom: Instant
  private static let timeToSettle: Duration = .seconds(2)
  var numbers = EpisodeNumbers()
  /// Came since the last look.
  private var gap: WatchGap?
  private(set) var lastLook: ThreadObservation?
  private(set) var nextLook: Instant
  private(set) var looks = LookCount()
  /// Looks that found no such thread, one after the other.
  private(set) var missedLooks = 0

  init(_ record: ThreadRecord, _ context: WatchContext, observer: consuming LoopObserver) {
    self.record = record
    subject = record
    self.context = context
    index = context.newThreadIndex()
    context.recorder?.begin(RecordedThread(record, index: index))
    let options = context.options
    sight = observer.facts.sight
    self.observer = observer
    let isQueue = record.role == .mainQueue
    mayRest =
      !isQueue && !options.cpuOnly && context.recorder == nil && context.heartbeat == nil && !options.ping
      && options.probe == nil
    detector = StallDetector(
      threshold: options.threshold, interval: options.interval, home: isQueue ? .mainQueue : options.home)
    detector.isBlindToLoop = options.cpuOnly
    passes = HomePasses(thread: record.threadID, options, isOff: isQueue)
    phases = PhaseModel(options.phaseThresholds, isJudged: !options.cpuOnly && !isQueue)
    surroundings = SurroundingsWatch(interval: detector.alertInterval)
    nextLook = .now
    mayRestFrom = nextLook + Self.timeToSettle
    remarks = LoopRemarks(
      process: context.process.id, thread: record, began: nextLook,
      stateFacts: options.cpuOnly ? StateFacts(threshold: options.threshold) : nil,
      isOneOfMany: context.mayFollowMany)
  }

  func look(dueAt due: Instant) {
    if rest(dueAt: due) { return }
    var seen: ThreadObservation
    do throws(Errno) {
      seen = try observe()
      if seen.state.hasEnded { throw .noSuchProcess }
    } catch { return lookFailed(error) }
    let isFirst = lastLook == nil
    note(seen, dueAt: due)
    addWhatElseIsKnown(to: &seen)
    act(on: judge(seen, dueAt: due), seen)
    passes.tell(context)
    if let remark = remarks.next(after: seen, detector, inquiry) { context.tell(remark) }
    if !isFirst, !detector.isStalled { inquire(after: seen) }
  }

  /// While a loop rests, most looks find nothing but that: what they cost is the code that they come through, which after
  /// half a second is in no cache. Every two seconds one is made in full all the same.
  private func rest(dueAt due: Instant) -> Bool {
    guard detector.isAtRest, mayRest, missedLooks == 0, gap == nil, phases.isSteady, passes.isSettled,
      !inquiry.isWaiting, let lastLook,
      lastLook.at >= mayRestFrom,
      let now = observer.restsStill()
    else { return false }
    looks.count(at: now, dueAt: due, tolerance: detector.alertInterval)
    self.lastLook?.at = now
    phases.rest(at: now)
    nextLook = detector.rest(at: now)
    return true
  }

  /// What has become of the thread since the last look.
  private func note(_ seen: ThreadObservation, dueAt due: Instant) {
    missedLooks = 0
    nameWorker()
    looks.count(at: seen.at, dueAt: due, tolerance: detector.alertInterval)
    if record.role != .mainQueue, let now = observer.facts.image, now.isThere, now != image { take(now) }
    if observer.facts.sight != sight { take(observer.facts.sight) }
    if let gap { take(gap, seen) }
  }

  /// What a look at the thread does not show: answers about its stack, the passes of its loop, and the phase of the program.
  private func addWhatElseIsKnown(to seen: inout ThreadObservation) {
    let hasNews = inquiry.takeAnswers(context.answers, for: record.threadID, at: seen.at) {
      detector.learn($0, of: $1)
      context.recorder?.learned($0, of: $1, index, at: seen.at)
    }
    probe.take(context, at: seen.at)
    // A queue tells its passes itself.
    if record.role != .mainQueue {
      if hasNews { passes.learn(from: inquiry, of: detector.loop.home) }
      seen.passes =
        passes.look(at: seen, after: detector, context)
        ?? probe.passes(at: seen, after: lastLook, record, context)
      seen = context.kept(seen)
    }
    context.recorder?.background(observer.facts.isInBackground, index, at: seen.at)
    phases.prepare(for: seen, isInBackground: observer.facts.isInBackground)
    detector.terms = phases.terms
    if phases.phase == .launch { seen.blockStart = blockStart(of: seen) }
  }

  private func judge(_ seen: ThreadObservation, dueAt due: Instant) -> StallAction {
    var began: BlockStart?
    let (judged, next) = detector.observe(seen) {
      began = blockStart(of: seen)
      return began
    }
    let action = surroundings.surrounded(judged, read: readSurroundings)
    surroundings.observe(spellStart: detector.spellStart, at: seen.at, read: readSurroundings)
    context.recorder?.look(seen, blockStart: began, of: index, dueAt: due)
    lastLook = seen
    nextLook = next
    forewarn()
    sampleStacks(seen, blockedSince: began?.latest, action)
    if action == .none { captureLate(seen) }
    return action
  }

  private func act(on action: StallAction, _ seen: ThreadObservation) {
    perform(action, seen)
    perform(detector.saturation, seen)
    perform(phases.observe(seen, detector.position, home: detector.loop.home, { numbers.newPhase() }), seen)
    if let deadline = phases.deadline, deadline > seen.at { nextLook = min(nextLook, deadline) }
  }

  var responseTimes: ResponseTimes { passes.responseTimes }

  /// For the main queue: who works for it, or last did.
  var worker: Int32? { observer.worker }

  private func nameWorker() {
    guard record.role == .mainQueue, let worker, worker != subject.threadID else { return }
    subject = ThreadRecord(threadID: worker, name: context.camera.name(of: worker), role: .mainQueue)
    context.recorder?.worker(RecordedThread(subject, index: index))
  }

  /// What the stack says of a wait that may be the loop's.
  private func inquire(after look: ThreadObservation) {
    if let (site, thread) = inquiry.ask(in: detector.loop, after: look, record, context.camera) {
      context.queue.push(.homeStack(site, thread))
    } else if inquiry.isAtRest(at: look.at) {
      context.queue.push(.analystMayRest)
    }
  }

  /// A stall may come: what names its stack is started.
  private func forewarn() {
    guard !detector.isSettled, !hasForewarned else { return }
    context.queue.push(.stallMayCome)
    hasForewarned = true
  }

  private func readSurroundings() -> SurroundingsReading? {
    let reading = context.kept(context.surroundings.read(at: .now, majorFaults: observer.facts.majorFaults))
    context.recorder?.surroundings(reading, of: index)
    return reading
  }

  func observe() throws(Errno) -> ThreadObservation {
    let (camera, thread) = (context.camera, record.threadID)
    let look = try observer.look(isAtWork: !detector.isSettled) { address, length, buffer in
      camera.readMemory(of: thread, at: address, length, into: &buffer)
    }
    return context.kept(look)
  }

  private func blockStart(of look: ThreadObservation) -> BlockStart? {
    observer.blockStart(of: look).map {
      BlockStart(latest: context.kept($0.latest), earliest: $0.earliest.map(context.kept))
    }
  }

  /// The thread may be gone long before the process is: the handle tells when that has ended.
  private func lookFailed(_ error: Errno) {
    nextLook = .now + detector.alertInterval
    missedLooks += 1
    if error.meansTaskGone, missedLooks == 1 { context.recorder?.missed(index, at: .now) }
    if error.meansTaskGone { cutOff(.threadEnded) }
    if record.role != .mainQueue, let remark = remarks.lookFailed(error) { context.tell(remark) }
  }

  private func take(_ newImage: ImageMark) {
    defer {
      image = newImage
      remarks.whyNoLoop = context.camera.executableFacts()?.whyNoLoop
      detector.isBlindToLoop = context.options.cpuOnly || remarks.whyNoLoop != nil
      phases.isJudged = !detector.isBlindToLoop
      context.recorder?.judged(index, !detector.isBlindToLoop, at: .now)
    }
    guard image != nil else { return }
    mayRestFrom = .now + Self.timeToSettle
    context.recorder?.programReplaced(index, at: .now)
    cutOff(.targetReplaced)
    note(.began(after: lastLook?.at ?? .now, by: .now))
    detector.forget()
    inquiry.forget()
    passes.forget(context)
    context.programChanges.count += 1
  }

  /// Waits seen by their kind and waits seen in full are not comparable: the loop has to be found anew.
  private func take(_ newSight: WaitSight) {
    sight = newSight
    context.recorder?.sightChanged(index, at: .now)
    context.camera.denied = newSight.refusal
    cutOff(.rightsChanged)
    detector.forget()
    inquiry.forget()
    context.tell(
      .rightsChanged, WatchRights(context.process.id, context.options, FirstSight(waits: newSight)).remark)
  }

  /// We did not look for a while; what that means shows the next look.
  func note(_ gap: WatchGap) { if !(self.gap?.isShared ?? false) { self.gap = gap } }

  private func take(_ gap: WatchGap, _ look: ThreadObservation) {
    self.gap = nil
    context.recorder?.gap(gap, index, at: look.at)
    perform(detector.startAnew(after: gap, at: look), look)
    if gap.isShared { perform(phases.note(.machineResumed(at: look.at), { numbers.newPhase() }), look) }
  }

  /// Something that nobody learns from looks. What becomes of the program is told once, of the thread that the watch began
  /// with.
  func note(_ known: PhaseFact) {
    guard record.threadID == context.process.thread.threadID else { return }
    let fact = context.kept(known)
    context.recorder?.phaseFact(fact, index, at: .now)
    perform(phases.note(fact, { numbers.newPhase() }), lastLook)
  }

  func perform(_ action: StallAction, _ look: ThreadObservation?) {
    let (queue, camera) = (context.queue, context.camera)
    switch action {
    case .none: break
    case .captureAndReport(let stall):
      if sampling.stall == stall.id { tellSamples(of: stall.id) }
      let thread = capture(stall, look)
      context.companions.take(beside: thread, episode: numbers.number(of: stall.id, context), camera) {
        queue.push(.companion($0, $1))
      }
      queue.push(.stall(numbered(stall), subject, thread))
      // A stall is told at once; what waited for it to become certain follows.
      if !stall.proof.isOfPhase { tellSamples(of: stall.id) }
      missingStack.note(thread, of: stall)
    case .report(let stall):
      if stall.proof.isOfPhase { context.phases.count(stall) } else { tellLastSamples(of: stall.id) }
      queue.push(.stall(numbered(stall), subject, nil))
    }
  }

  /// What stopped the thread has changed its counts.
  func absorb(_ capture: CapturedThread) {
    if case .success(let raw) = capture.result, raw.way != .ptrace { return }
    guard let after = try? observe() else { return }
    detector.absorbCapture(after)
    sampling.absorb(after)
    context.recorder?.lookAfterCapture(after, of: index)
  }
}
