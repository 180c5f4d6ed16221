// One watch from beginning to end: opens what it needs, starts the report thread, runs the loop, waits for the last word.

internal import Analysis
internal import CommandLineOptions
internal import Glibc
internal import Linux
internal import Observation
internal import Recordings
internal import Reports
internal import Stacks
internal import StallCore

struct Watch {
  let options: Options
  let process: WatchedProcess
  private let queue: ReportQueue
  private let loop: WatchLoop

  /// Everything that can be refused is refused here, before the first look counts.
  init(
    _ options: Options, _ process: WatchedProcess, _ rules: LoopRules, output: consuming ReportOutput,
    signals: consuming SignalDescriptor, requests: ProgramRequests? = nil,
    meaning: @escaping (ReceivedSignal) -> SignalMeaning
  ) throws(ProgramFailure) {
    self.options = options
    self.process = process
    let answers = HomeAnswers()
    let heartbeat = try Self.findHeartbeat(options, process)
    let sight: FirstSight
    let first: FollowedThread?
    let channel = options.record == nil ? nil : RecordingChannel()
    let recording: RecordingFile? =
      if let path = options.record, let channel { try RecordingFile(path, channel) } else { nil }
    do throws(Errno) {
      let look = try FirstLook.take(process, options)
      sight = look.sight
      queue = try ReportQueue()
      let recorder = channel.map { [queue] in LookRecorder($0, queue) }
      let context = WatchContext(
        options, process, camera: look.camera, observerWay: look.way, queue: queue, answers: answers,
        recorder: recorder,
        heartbeat: options.heartbeat.map { WatchedHeartbeat($0, process: process.id, first: heartbeat) })
      let isByName = if case .named = options.thread { true } else { false }
      first = isByName ? nil : FollowedThread(process.thread, context, observer: look.observer)
      loop = try WatchLoop(context, signals: signals, first: first, requests: requests, meaning: meaning)
      let reporter = Reporter(
        options, .of(process), output: output, rules: rules, answers: answers, recording: recording)
      try Self.startReporting(reporter, queue)
      try context.startProbe()
    } catch {
      if error.meansTaskGone { throw Refusal.noProcess(process.id) }
      throw Refusal.notPermitted(process.id, error)
    }
    if let moment = process.launchedAt(options.phaseThresholds, isOurs: requests != nil) {
      first?.note(.began(after: moment, by: moment + .milliseconds(10)))
    }
    loop.begin()
    tellBeginning(of: sight)
  }

  private func tellBeginning(of sight: FirstSight) {
    let (command, buildID) = (sight.command, sight.buildID)
    let rights = WatchRights(process.id, options, sight)
    if options.record != nil {
      let recorded = RecordedWatch(
        process, options, rights, command: command, buildID: buildID, startedAt: loop.totals.began)
      queue.push(.recordingBegins(recorded))
    }
    queue.push(.attached(AttachRecord(process, options, rights, command: command, buildID: buildID)))
  }

  /// In a program that runs already, a name that means nothing is a mistake; one that starts may load it later.
  private static func findHeartbeat(
    _ options: Options, _ process: WatchedProcess
  ) throws(ProgramFailure) -> HeartbeatFinding? {
    guard let name = options.heartbeat, options.command == .watch, !options.wait else { return nil }
    var finder = HeartbeatFinder(process: process.id)
    let finding = finder.find(name, of: process.thread.threadID)
    switch finding {
    case .found, .noModule, .failed: return finding
    case .several, .unusable, .unknown: throw Refusal.noHeartbeat(name, finding)
    }
  }

  /// Watches; `ending` tells how the process ended, if it did.
  func run(ending: () -> (how: ProcessEnd, survivors: [OtherProcess]?)) -> WatchEnd {
    let end = loop.run()
    if end == .targetEnded {
      let (how, survivors) = ending()
      queue.push(.exit(ExitRecord(how, generation: process.generation, survivors: survivors)))
    }
    if end != .readerGone { queue.push(.summary(loop.totals)) }
    queue.close()
    return loop.waitForReports() ? .asked : end
  }

  /// For a watch that ended before its target.
  func waitForTarget() { loop.waitForTarget() }

  var stalls: Int { loop.totals.statistics.stalls.count }
  var hasVerifiedStalls: Bool { loop.totals.statistics.stalls.verified > 0 }

  private static func startReporting(_ reporter: consuming Reporter, _ queue: ReportQueue) throws(Errno) {
    let box = ReporterBox(reporter)
    try startThread(name: "reports") { box.reporter.run(queue) }
  }

  /// Hands the reporter to its thread, which alone uses it.
  private final class ReporterBox: @unchecked Sendable {
    var reporter: Reporter
    init(_ reporter: consuming Reporter) { self.reporter = reporter }
  }
}
