// The report thread's work: items in, records out, each written at once.

internal import CommandLineOptions
internal import Diagnosis
internal import Linux
internal import Recordings
internal import Reports
internal import Stacks
internal import StallCore

struct Reporter: ~Copyable {
  private var series: RecordSeries
  private var format: any ReportFormat
  private var output: ReportOutput
  private let analyst: StackAnalyst
  private let isForPrograms: Bool
  private let isQuiet: Bool
  /// Those that are still going on: one of each stalled thread.
  private var episodes: [Int: Episode] = [:]
  private var lastEpisode: UInt64 = 0
  private var companions = CompanionList()
  private var places: PlaceLog
  private var saturations = SaturationLog()
  private let threshold: Duration
  private var homes: HomeStackReader
  /// Stacks may be wanted at any moment.
  private var keepsAnalyst = false
  private var recording: RecordingFile?
  /// The last threads of a dump, which the analyst works on while the next ones are copied.
  private var dumped: [PendingStack] = []

  /// `answers`: where the watch finds what stacks said of the loop.
  init(
    _ options: Options, _ origin: RecordOrigin, output: consuming ReportOutput, rules: LoopRules,
    answers: HomeAnswers = HomeAnswers(), recording: consuming RecordingFile? = nil
  ) {
    homes = HomeStackReader(rules, answers)
    isForPrograms = options.outputKind == .json
    isQuiet = options.verbosity == .quiet
    series = RecordSeries(origin: origin)
    threshold = options.threshold
    places = PlaceLog(cooldown: options.cooldown)
    format =
      options.outputKind == .json
      ? JSONFormat() : TextFormat(style: TextStyle(options, output.terminal))
    analyst = StackAnalyst(
      process: origin.processID, maxFrames: options.maxFrames, detail: options.symbols,
      tellsKernel: options.outputKind == .json || options.verbosity == .verbose)
    self.output = output
    self.recording = recording
  }

  /// Starts what will be needed at once.
  func prepareForDump() {
    analyst.prepare()
    analyst.prepareFiles()
  }

  /// Takes items until the queue is closed.
  mutating func run(_ queue: ReportQueue) {
    var isLast = false
    while !isLast, !queue.isOutputGone {
      guard let batch = queue.next(orReadable: analyst.rawSocket) else {
        analyst.proceed()
        homes.proceed(analyst)
        proceedSamples()
        continue
      }
      homes.proceed(analyst)
      isLast = batch.isLast
      recording?.proceed()
      for (item, moment) in batch.items where !queue.isOutputGone { write(item, moment, queue) }
      if batch.droppedCaptures + batch.droppedItems > 0, let moment = batch.items.last?.moment {
        write(.notice(NoticeRecord(.recordsLost, lossText(batch))), moment, queue)
      }
    }
    output.flush()
    queue.finish()
  }

  private mutating func newEpisode() -> Episode {
    lastEpisode += 1
    return Episode(number: lastEpisode)
  }

  /// Samples are named as they come: at the end of a stall there may be hundreds.
  private mutating func proceedSamples() {
    let now = Instant.now
    for id in Array(episodes.keys) { episodes[id]?.takeAnswers(analyst, until: now) }
  }

  private func lossText(_ batch: ReportQueue.Batch) -> String {
    "the reader was too slow: \(batch.droppedCaptures) stacks and \(batch.droppedItems) records were dropped"
  }

  private mutating func write(_ item: ReportItem, _ moment: Moment, _ queue: ReportQueue) {
    do throws(ReportOutput.Failure) {
      try report(item, at: moment)
    } catch {
      switch error {
      case .readerGone: queue.reportOutputGone()
      case .cannotWrite(let why):
        Program.complain("cannot write a report: \(why); going on, and counting what is lost")
      case .stillCannotWrite: break
      }
    }
  }

  /// Writes the records of one item.
  mutating func report(_ item: ReportItem, at moment: Moment) throws(ReportOutput.Failure) {
    let asked = dumped
    dumped = if case .dumpedThreads(let threads) = item { analyst.ask(together: threads) } else { [] }
    for thread in asked {
      let stacks = analyst.namingKernel([analyst.lastWord(on: thread)], until: .now + .seconds(1))
      for stack in stacks { try write(.dump(ThreadDumpRecord(stack)), moment) }
    }
    for body in bodies(of: item, at: moment) { try write(body, moment) }
  }

  private mutating func write(_ body: RecordBody, _ moment: Moment) throws(ReportOutput.Failure) {
    try output.write(format.render(series.record(body, at: moment)))
    let lost = output.takeLostRecords()
    if lost > 0 {
      try write(
        .notice(NoticeRecord(.recordsLost, "\(lost) records before this one could not be written")), moment)
    }
  }

  private mutating func bodies(of item: ReportItem, at moment: Moment) -> [RecordBody] {
    switch item {
    case .attached(let record): return [.attach(record)]
    case .recordingBegins(let watch): beginRecording(watch)
    case .looksRecorded: break
    case .stallMayCome: keepAnalyst()
    case .homeStack(let site, let thread): homes.ask(site, thread, analyst)
    case .analystMayRest: if !keepsAnalyst, homes.isIdle { analyst.rest() }
    case .stall(let stall, let record, let thread):
      return stallBodies(stall, record, thread, moment) + remarks(moment)
    case .lateStack(let id, let thread):
      episodes[id]?.take(thread, analyst)
      return remarks(moment)
    case .samples(let id, let stretch):
      var episode = episodes[id] ?? newEpisode()
      episode.take(stretch)
      episodes[id] = episode
      episodes[id]?.takeAnswers(analyst, until: .now)
      return remarks(moment)
    case .companion(let key, let thread): companions.add(stack(of: thread, moment), key)
    case .saturationSample(let id, let thread, let weight, let loop):
      saturations.take(id, thread, weight: weight, loop: loop, homes.rules, analyst)
      recordSamples()
      return remarks(moment)
    case .saturation(let statement, let record):
      return saturationBodies(statement, record, moment) + remarks(moment)
    case .busyThread(let busy, let thread, let stretch):
      return [busyThreadBody(busy, thread, stretch, moment)] + remarks(moment)
    // Who has asked for one dump may ask for another.
    case .dumpedThreads: keepsAnalyst = true
    case .dumpDone(let record): return remarks(moment) + [.dumpSummary(record)]
    case .notice(let record): return remark(record, moment)
    case .exit(let record):
      recording?.add(RecordedExit(record, at: moment.monotonic))
      return [.exit(record)]
    case .summary(let totals):
      endRecording(totals, moment)
      return [.summary(summary(totals))]
    case .reopenOutput: output.reopen()
    }
    return []
  }

  private mutating func beginRecording(_ watch: RecordedWatch) {
    var watch = watch
    (watch.watchID, watch.host) = (series.origin.watchID, series.origin.host)
    recording?.begin(watch)
  }

  private mutating func endRecording(_ totals: WatchTotals, _ moment: Moment) {
    recording?.end(
      RecordedEnd(
        at: moment.monotonic, cpuTime: totals.cpuTime + analyst.cpuTime, targetStopped: totals.targetStopped))
  }

  private mutating func keepAnalyst() {
    keepsAnalyst = true
    analyst.prepare()
  }

  /// A remark is a record for programs and a line on standard error for people.
  private mutating func remark(_ record: NoticeRecord, _ moment: Moment) -> [RecordBody] {
    recording?.add(RecordedNotice(record, at: moment.monotonic))
    if isForPrograms { return [.notice(record)] }
    if !isQuiet { output.remark(record.sentence) }
    return []
  }

  private mutating func remarks(_ moment: Moment) -> [RecordBody] {
    var bodies: [RecordBody] = []
    for text in analyst.takeRemarks() { bodies += remark(NoticeRecord(.namesMissing, text.escaped), moment) }
    return bodies
  }

  private func patience(_ state: StallState, _ moment: Moment) -> Duration {
    RecordPatience.patience(
      state, isUrgent: isForPrograms && !places.dependsOnPlace(at: moment.monotonic), since: moment)
  }

  /// Of a thread that is not the stalled one.
  private func stack(of thread: CapturedThread, _ moment: Moment) -> Stack {
    analyst.stack(of: thread, within: RecordPatience.ofWorkers(since: moment))
  }

  /// The stack of an episode is kept for its last record.
  private mutating func stallBodies(
    _ stall: Stall, _ record: ThreadRecord, _ thread: CapturedThread?, _ moment: Moment
  ) -> [RecordBody] {
    var episode = episodes[stall.id] ?? newEpisode()
    if let thread { episode.take(thread, analyst) }
    episode.take(stall.surroundings)
    let end = Instant.now + patience(stall.state, moment)
    episode.proceed(analyst, until: end)
    if let stack = episode.stack, let at = episode.stackAt {
      recording?.add(
        RecordedStack(
          at: at, stack: stack, cause: episode.cause, companions: companions.stacks(of: stall.id)))
    }
    episodes[stall.id] = stall.state == .ongoing ? episode : nil
    if stall.state != .ongoing { episode.end(analyst) }
    let statement = EpisodeStatement(
      id: stall.id, kind: stall.proof == .none ? .unverified : .stall, isLast: stall.state != .ongoing,
      duration: stall.duration.likely, stack: episode.stack, cause: episode.cause?.kind)
    // A phase has no place, and comes about once in the life of a program.
    let (repetition, news) = stall.proof.isOfPhase ? (Repetition(), []) : judge(statement, moment)
    guard let repetition else { return news }
    let stacks = analyst.namingKernel(episode.stacks + companions.stacks(of: stall.id), until: end)
    let body = StallRecord(
      stall, at: moment, thread: record, cause: episode.cause, repetition: repetition,
      stacks: stacks, sampling: SamplingRecord(episode.shares),
      loopNesting: homes.rules.reading(of: episode.stack?.frames ?? []).nesting)
    return [stall.proof == .none ? .unverified(body) : .stall(body)] + news
  }

  private mutating func saturationBodies(
    _ saturation: Saturation, _ thread: ThreadRecord, _ moment: Moment
  ) -> [RecordBody] {
    let end = Instant.now + patience(saturation.state, moment)
    let episode = saturations.tell(saturation, homes.rules, analyst, until: end)
    recordSamples()
    let statement = EpisodeStatement(
      id: saturation.id, kind: .saturation(thread: thread.threadID), isLast: saturation.state != .ongoing,
      duration: saturation.duration.likely)
    let (repetition, news) = judge(statement, moment)
    guard let repetition else { return news }
    let body = SaturationRecord(
      saturation, at: moment, thread: thread, shares: episode.shares, repetition: repetition,
      stack: episode.stack.flatMap { analyst.namingKernel([$0], until: end).first })
    return [.saturation(body)] + news
  }

  private mutating func busyThreadBody(
    _ busy: BusyThread, _ thread: CapturedThread, _ stretch: SampledStretch?, _ moment: Moment
  ) -> RecordBody {
    var episode = newEpisode()
    episode.take(thread, analyst)
    if let stretch { episode.take(stretch) }
    let end = Instant.now + RecordPatience.ofWorkers(since: moment)
    episode.proceed(analyst, until: end)
    episode.end(analyst)
    if let stack = episode.stack {
      recording?.add(
        RecordedBusyThread(at: moment.monotonic, percent: busy.percent, window: busy.window, stack: stack))
    }
    let stacks = analyst.namingKernel(episode.stacks, until: end)
    return .cpu(BusyThreadRecord(busy, stacks: stacks, thread, sampling: SamplingRecord(episode.shares)))
  }

  private mutating func recordSamples() {
    for stack in saturations.takeNamed() { recording?.add(stack) }
  }

  /// Whether there is a record of it, and what is to be said of that.
  private mutating func judge(
    _ statement: EpisodeStatement, _ moment: Moment
  ) -> (Repetition?, news: [RecordBody]) {
    let repetition = places.judge(statement, at: moment.monotonic)
    let change = places.takeLimitChange()
    return (repetition, change.map { remark(NoticeRecord(.reportsLimited, $0.sentence), moment) } ?? [])
  }

  private func summary(_ totals: WatchTotals) -> SummaryRecord {
    SummaryRecord(
      totals, threshold: threshold, places: places, saturation: saturations.totals,
      analystCPU: analyst.cpuTime)
  }
}
