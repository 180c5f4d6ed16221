// What a recorded watch would have said: the new judgement, beside what was seen and said otherwise at that time.

internal import CommandLineOptions
internal import Recordings
internal import Reports
internal import Stacks
internal import StallCore

struct Replay: ~Copyable {
  private let recording: Recording
  private let options: Options
  private var judgement: Rejudgement
  private var reporter: Reporter
  private var notices: ArraySlice<RecordedNotice>
  private var busyThreads: ArraySlice<RecordedBusyThread>
  private var toldBusyThreads = 0
  /// The episodes of each thread by their own numbers, and by those of the watch.
  private var episodes: [EpisodeKey: Int] = [:]
  private var rounds = 0
  private var phases = PhaseCounts()

  private struct EpisodeKey: Hashable {
    var thread: Int
    var id: Int
  }

  init(
    _ recording: Recording, _ judgement: consuming Rejudgement, _ options: Options,
    _ reporter: consuming Reporter
  ) {
    self.recording = recording
    self.judgement = judgement
    self.options = options
    self.reporter = reporter
    notices = recording.notices[...]
    busyThreads = recording.busyThreads[...]
  }

  var hasVerifiedStalls: Bool { judgement.statistics.stalls.verified > 0 }

  /// `remarks`: what is to be said before and after.
  mutating func run(_ remarks: (before: [String], after: [String])) throws(ReportOutput.Failure) {
    let began = recording.watch.startedAt
    try report(.attached(AttachRecord(recording, threshold: options.threshold)), at: began)
    for text in remarks.before { try report(.notice(NoticeRecord(.recordingGaps, text)), at: began) }
    while !judgement.isAtEnd {
      for said in judgement.next() { try tell(said) }
      if hasEnough { for said in judgement.stop() { try tell(said) } }
    }
    let end = hasEnough ? judgement.now : recording.end?.at ?? judgement.now
    try tellOthers(until: end)
    if let exit = recording.exit, !hasEnough {
      try report(.exit(ExitRecord(exit, generation: recording.watch.generation)), at: max(end, exit.at))
    }
    for text in remarks.after { try report(.notice(NoticeRecord(.recordingGaps, text)), at: end) }
    var totals = WatchTotals(recording.watch, recording.end, busyThreads: toldBusyThreads)
    totals.finish(
      judgement.statistics, LookCount(all: judgement.looks, late: judgement.lateLooks), phases: phases,
      probe: recording.watch.probe.isEmpty ? nil : ProbeSummary(recording.watch.probe, judgement.probe),
      judgement.responseTimes, at: end)
    try report(.summary(totals), at: end)
  }

  private var hasEnough: Bool {
    guard let count = options.count else { return false }
    return judgement.statistics.stalls.count >= count && !judgement.isStalled
  }

  private mutating func tell(_ said: RejudgedAction) throws(ReportOutput.Failure) {
    try tellOthers(until: said.at)
    switch said.action {
    case .none: break
    case .captureAndReport(let stall): try tell(stall, said)
    case .report(let stall):
      if stall.proof.isOfPhase { phases.count(stall) }
      try tell(stall, said)
    }
    switch said.saturation {
    case .none: break
    case .capture(let saturation): try sample(saturation, said)
    case .captureAndReport(let saturation):
      try sample(saturation, said)
      try tell(saturation, said)
    case .report(let saturation): try tell(saturation, said)
    }
  }

  private mutating func number(of id: Int, _ thread: Int) -> Int {
    let key = EpisodeKey(thread: thread, id: id)
    let number = episodes[key] ?? episodes.count + 1
    episodes[key] = number
    return number
  }

  /// What was copied at that look, if anything was.
  private mutating func sample(
    _ saturation: Saturation, _ said: RejudgedAction
  ) throws(ReportOutput.Failure) {
    guard let thread = said.subject,
      let stack = recording.stack(of: thread.threadID, from: said.at, before: said.before)
    else { return }
    let episode = number(of: saturation.id, said.thread)
    try report(
      .saturationSample(
        episode: episode, CapturedThread(stack), weight: judgement.alertInterval, loop: []), at: said.at)
  }

  private mutating func tell(
    _ saturation: Saturation, _ said: RejudgedAction
  ) throws(ReportOutput.Failure) {
    guard let thread = said.subject.map(ThreadRecord.init) else { return }
    var told = saturation
    told.id = number(of: saturation.id, said.thread)
    try report(.saturation(told, thread), at: said.at)
  }

  private mutating func tell(_ ownStall: Stall, _ said: RejudgedAction) throws(ReportOutput.Failure) {
    guard let thread = said.subject.map(ThreadRecord.init) else { return }
    let number = number(of: ownStall.id, said.thread)
    var stall = ownStall
    stall.id = number
    let stack = recording.stack(of: thread.threadID, from: stall.startedAt, before: said.before)
    rounds += 1
    for companion in stack?.companions ?? [] {
      let key = CompanionKey(episode: number, round: rounds)
      let recorded = RecordedStack(at: said.at, stack: companion, cause: nil)
      try report(.companion(key, CapturedThread(recorded)), at: said.at)
    }
    try report(.stall(stall, thread, stack.map { CapturedThread($0) }), at: said.at)
  }

  /// What was said up to this moment, whatever the threshold was.
  private mutating func tellOthers(until moment: Instant) throws(ReportOutput.Failure) {
    while let notice = notices.first, notice.at <= moment {
      notices.removeFirst()
      // Which reports are held back is judged again.
      if let record = NoticeRecord(notice), record.kind != .reportsLimited {
        try report(.notice(record), at: notice.at)
      }
    }
    while let busy = busyThreads.first, busy.at <= moment {
      busyThreads.removeFirst()
      toldBusyThreads += 1
      let thread = BusyThread(
        threadID: busy.stack.threadID, state: .busy, percent: busy.percent, window: busy.window)
      let recorded = RecordedStack(at: busy.at, stack: busy.stack, cause: nil)
      try report(.busyThread(thread, CapturedThread(recorded), nil), at: busy.at)
    }
  }

  private mutating func report(_ item: ReportItem, at moment: Instant) throws(ReportOutput.Failure) {
    let wall = WallTime(microseconds: recording.wallMicroseconds(at: moment))
    try reporter.report(item, at: Moment(wall: wall, monotonic: moment))
  }
}

extension CapturedThread {
  /// As it was copied when the recording was made, and named.
  fileprivate init(_ recorded: RecordedStack) {
    let stack = recorded.stack
    self.init(
      threadID: stack.threadID, name: stack.threadName, role: stack.role, result: .failure(.stacksOff),
      maps: nil, evidence: nil, at: recorded.at, recorded: recorded)
  }
}
