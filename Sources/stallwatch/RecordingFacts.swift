// From what the program knows to what a recording keeps of it, and back.

internal import CommandLineOptions
internal import Recordings
internal import Reports
internal import StallCore

extension RecordedWatch {
  init(
    _ process: WatchedProcess, _ options: Options, _ rights: WatchRights, command: [ByteString]?,
    buildID: String?, startedAt: Instant
  ) {
    self.init()
    writtenBy = Program.version
    processID = process.id
    name = process.name
    self.command = command ?? []
    executable = process.executable
    self.buildID = buildID
    startTicks = process.startTicks
    generation = process.generation
    threads = process.threads
    observer = rights.observer.rawValue
    captureWays = rights.captureWays
    missing = (rights.missing + (command == nil ? [AttachRecord.noCommandLine] : [])).map {
      Missing(what: $0.what.text, why: $0.why.text)
    }
    threshold = options.threshold
    interval = options.interval
    cpuThreshold = options.cpuThreshold
    cpuWindow = options.cpuWindow
    self.startedAt = startedAt
    thread = RecordedThread(process.thread, index: 0)
    threadReason = (options.thread ?? .auto).reason
    home = options.home
    probe = options.probe?.text ?? ""
  }
}

extension RecordedThread {
  init(_ thread: ThreadRecord, index: Int) {
    self.init(index: index, threadID: thread.threadID, name: thread.exactName, role: thread.role)
  }
}

extension RecordedExit {
  init(_ record: ExitRecord, at moment: Instant) {
    let how: How =
      switch record.end {
      case .unknown: .unknown
      case .exited(let status): .exited(status)
      case .signalled(let signal): .signalled(signal)
      }
    self.init(
      at: moment, how: how,
      survivors: record.survivors?.map { Survivor(processID: $0.id, name: ByteString($0.name.text)) })
  }
}

extension ExitRecord {
  init(_ recorded: RecordedExit, generation: Int) {
    let end: ProcessEnd =
      switch recorded.how {
      case .unknown: .unknown
      case .exited(let status): .exited(status: status)
      case .signalled(let signal): .signalled(signal)
      }
    self.init(
      end, generation: generation,
      survivors: recorded.survivors?.map { OtherProcess(id: $0.processID, name: $0.name) })
  }
}

extension AttachRecord {
  /// Of a replay: what was watched is as it was, what is judged as it is asked for now.
  init(_ recording: Recording, threshold: Duration) {
    let watch = recording.watch
    self.init(
      name: watch.name, command: watch.command, executable: watch.executable, buildID: watch.buildID,
      startTicks: watch.startTicks, generation: watch.generation, threads: watch.threads,
      thread: ThreadRecord(watch.thread), threadReason: watch.threadReason, threshold: threshold,
      cpuThreshold: watch.cpuThreshold,
      cpuWindow: watch.cpuWindow, observer: ObserverKind(rawValue: watch.observer) ?? .proc,
      captureWays: watch.captureWays,
      missing: watch.missing.map { MissingAbility(what: $0.what, why: $0.why) })
  }
}

extension RecordedNotice {
  init(_ record: NoticeRecord, at moment: Instant) {
    self.init(
      at: moment, kind: record.kind.rawValue, text: record.sentence,
      loop: record.loop.map {
        RecordedLoop(
          threadID: $0.threadID, home: $0.home, family: $0.family?.text, parkedPercent: $0.parked?.value,
          nesting: $0.nesting)
      })
  }
}

extension NoticeRecord {
  /// Nil: a newer kind of notice.
  init?(_ recorded: RecordedNotice) {
    guard let kind = NoticeKind(rawValue: recorded.kind) else { return nil }
    self.init(
      kind, recorded.text,
      loop: recorded.loop.map {
        LoopRecord(
          threadID: $0.threadID, home: $0.home, family: $0.family, parkedPercent: $0.parkedPercent,
          nesting: $0.nesting)
      })
  }
}

extension ThreadRecord {
  init(_ thread: RecordedThread) {
    self.init(threadID: thread.threadID, name: thread.name, role: thread.role)
  }
}
