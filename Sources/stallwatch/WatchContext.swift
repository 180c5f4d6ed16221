// What the threads of one watch have in common.

internal import CommandLineOptions
internal import Linux
internal import Observation
internal import Recordings
internal import Reports
internal import StallCore

final class WatchContext {
  let options: Options
  let process: WatchedProcess
  let camera: ThreadCamera
  let observerWay: ThreadObserverWay
  let queue: ReportQueue
  /// What stacks said of waits.
  let answers: HomeAnswers
  /// With `--record`.
  let recorder: LookRecorder?
  var companions: CompanionStacks
  var programChanges = ProgramChanges()
  var surroundings: SurroundingsReader
  /// Nil: nobody is asked.
  let probe: ProbeMailbox?
  /// Of phases that took too long as a whole.
  var phases = PhaseCounts()
  /// The variable that the loop counts its rounds in.
  let heartbeat: WatchedHeartbeat?
  /// The thread that runs the loop, as far as is known: the heartbeat is its.
  var loopThread: Int32
  private var episodes = 0
  private var threadIndexes = 0
  private var lastPause: String?
  private var loopsTold = 0

  init(
    _ options: Options, _ process: WatchedProcess, camera: ThreadCamera, observerWay: ThreadObserverWay,
    queue: ReportQueue, answers: HomeAnswers, recorder: LookRecorder?, heartbeat: WatchedHeartbeat?
  ) {
    self.recorder = recorder
    self.heartbeat = heartbeat
    loopThread = process.thread.threadID
    self.answers = answers
    self.options = options
    self.process = process
    self.camera = camera
    self.observerWay = observerWay
    self.queue = queue
    probe = options.probe.map { _ in ProbeMailbox(isRecorded: recorder != nil) }
    surroundings = SurroundingsReader(process: process.id)
    companions = CompanionStacks(options.stacks, process: process.id)
  }

  /// What threads that are not followed any more have added up to.
  private(set) var retiredLooks = LookCount()
  private(set) var retiredStatistics = LoopStatistics()
  private(set) var retiredResponseTimes = ResponseTimes()

  /// Detectors count their own episodes; in the records of a watch each has a number of its own.
  func newEpisode() -> Int {
    episodes += 1
    return episodes
  }

  /// Followed threads are numbered from 0.
  func newThreadIndex() -> Int {
    threadIndexes += 1
    return threadIndexes - 1
  }

  /// Follows these no longer.
  func retire(_ threads: inout [FollowedThread], where isOver: (FollowedThread) -> Bool) {
    for thread in threads where isOver(thread) {
      thread.end(thread.missedLooks > 0 ? .threadEnded : .threadChanged)
      retiredLooks.add(thread.looks)
      retiredStatistics.add(thread.detector.statistics)
      retiredResponseTimes.add(thread.responseTimes)
    }
    threads.removeAll(where: isOver)
  }

  /// Starts asking, on a thread of its own.
  func startProbe() throws(Errno) {
    guard let probe, let address = options.probe else { return }
    let runner = ProbeRunner(address, threshold: options.threshold, probe) { [queue] in
      queue.push(.notice($0))
    }
    try startThread(name: "probe") { runner.run() }
  }

  /// What questions from outside have shown up to a look; nil: nobody is asked.
  func takeProbeFacts(at moment: Instant) -> ProbeFacts? {
    guard let (facts, events) = probe?.takeFacts() else { return nil }
    recorder?.probed(events, at: moment)
    return facts
  }

  /// The last word on them.
  func takeProbeSummary() -> ProbeSummary? {
    guard let address = options.probe, let (log, events) = probe?.take() else { return nil }
    recorder?.probed(events, at: .now)
    return ProbeSummary(address.text, log)
  }

  /// As a recording keeps it, so that a replay judges what is judged here.
  func kept<Value: RecordedInMicroseconds>(_ value: Value) -> Value { recorder == nil ? value : value.cut }

  /// More than one thread is followed, or may be.
  var mayFollowMany: Bool {
    switch options.thread ?? .auto {
    case .auto, .all, .named: true
    case .main, .id: false
    }
  }

  /// What one thread has to say. What all of them see is told once, and of many loops the first few.
  func tell(_ remark: NoticeRecord) {
    switch remark.kind {
    case .stopped, .traced, .frozen:
      guard remark.sentence != lastPause else { return }
      lastPause = remark.sentence
    case .loopFound:
      loopsTold += 1
      if loopsTold > Self.mostLoopsTold {
        if loopsTold == Self.mostLoopsTold + 1 { tell(.loopFound, "more loops found, not told one by one") }
        return
      }
    default: break
    }
    queue.push(.notice(remark))
  }

  private static let mostLoopsTold = 8

  func tell(_ kind: NoticeKind, _ text: String) { queue.push(.notice(NoticeRecord(kind, text))) }

  func tellProgramChanges(at now: Instant, isLast: Bool = false) {
    guard let text = programChanges.sentence(process.id, at: now, isLast: isLast) else { return }
    tell(.targetReplaced, text)
  }
}

/// How often was looked, and how often that was late.
struct LookCount: Sendable {
  private(set) var all: Int
  private(set) var late: Int

  init(all: Int = 0, late: Int = 0) { (self.all, self.late) = (all, late) }

  mutating func count(at moment: Instant, dueAt due: Instant, tolerance: Duration) {
    all += 1
    if moment - due > tolerance { late += 1 }
  }

  mutating func add(_ other: LookCount) {
    all += other.all
    late += other.late
  }
}
