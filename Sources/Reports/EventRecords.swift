// The short records: busy threads, notices, the end of the process, dumps.

package import StallCore

/// A thread that used more than the threshold of one core over the whole window.
package struct BusyThreadRecord: Sendable, Encodable {
  let thread: ThreadRecord
  let percent: Percent
  let window: Milliseconds
  let cause: CauseRecord?
  let sampling: SamplingRecord?
  let stacks: [StackRecord]

  /// - Parameters:
  ///   - cause: nil where the stacks say it all.
  ///   - sampling: what the weights of the stacks rest on.
  package init(
    thread: ThreadRecord, cpuTime: Duration, window: Duration, cause: Cause? = nil, stacks: [Stack],
    sampling: SamplingRecord? = nil
  ) {
    self.sampling = sampling
    self.cause = cause.map(CauseRecord.init)
    self.thread = thread
    percent = Percent(cpuTime, of: window) ?? Percent(0)
    self.window = Milliseconds(window)
    self.stacks = stacks.map(StackRecord.init)
  }

  private enum CodingKeys: String, CodingKey {
    case thread
    case percent = "cpu_percent"
    case window = "window_ms"
    case cause, sampling, stacks
  }
}

/// Something that is no stall but explains what is seen or not seen. The raw value is the word used in records.
package enum NoticeKind: String, Sendable, Encodable, CaseIterable {
  case stopped = "stopped.signal"
  case traced = "stopped.debugger"
  case frozen = "stopped.frozen"
  case suspended
  case observerLate = "observer.late"
  case targetReplaced = "target.replaced"
  case threadEnded = "thread.ended"
  case threadFollowed = "thread.followed"
  case timeLimit = "time.limit"
  case loopFound = "loop.found"
  case noLoop = "loop.none"
  case captureFailed = "capture.failed"
  case rightsChanged = "rights.changed"
  case uninterruptible = "state.uninterruptible"
  case starved = "state.starved"
  case heartbeat = "passes.heartbeat"
  case ping = "passes.ping"
  case breakpoint = "passes.breakpoint"
  case namesMissing = "names.missing"
  case probeFailed = "probe.failed"
  case probeForeign = "probe.foreign"
  case recordsLost = "records.lost"
  case reportsLimited = "reports.limited"
  /// What a recording cannot tell.
  case recordingGaps = "recording.gaps"
}

package struct NoticeRecord: Sendable, Encodable {
  package let kind: NoticeKind
  let text: EscapedText
  package let loop: LoopRecord?

  /// - Parameters:
  ///   - text: one sentence without a full stop.
  ///   - loop: the loop that was found.
  package init(_ kind: NoticeKind, _ text: String, loop: LoopRecord? = nil) {
    self.kind = kind
    self.text = EscapedText(text)
    self.loop = loop
  }

  package var sentence: String { text.text }
}

/// The event loop of a thread, as far as it is known.
package struct LoopRecord: Sendable, Encodable {
  package let threadID: Int32
  package let home: String?
  package let family: EscapedText?
  package let parked: Percent?
  package let nesting: Int?

  package init(threadID: Int32, home: String?, family: String?, parkedPercent: Double?, nesting: Int?) {
    (self.threadID, self.home, self.nesting) = (threadID, home, nesting)
    self.family = family.map { EscapedText($0) }
    parked = parkedPercent.map { Percent($0) }
  }

  /// - Parameters:
  ///   - home: what `--home` takes; nil for a wait that it cannot name.
  ///   - reading: what the first stack said; nil if nothing did.
  ///   - parkedShare: of the time that was judged.
  package init(threadID: Int32, home: HomeSelector?, reading: StackReading?, parkedShare: Double?) {
    self.threadID = threadID
    self.home = home?.text
    family = reading?.loopFamily.map { EscapedText($0) }
    parked = parkedShare.map { Percent($0 * 100) }
    nesting = reading.flatMap { $0.nesting > 1 ? $0.nesting : nil }
  }

  private enum CodingKeys: String, CodingKey {
    case threadID = "tid"
    case home, family
    case parked = "parked_percent"
    case nesting
  }
}

/// How the process ended. An attached watch cannot know.
package enum ProcessEnd: Sendable, Equatable {
  case unknown
  case exited(status: Int32)
  case signalled(Int32)
}

/// A process that is spoken of but not watched.
package struct OtherProcess: Sendable, Encodable, Equatable {
  package let id: Int32
  package let name: EscapedText
  let nameBytes: ExactBytes?

  package init(id: Int32, name: ByteString) {
    self.id = id
    self.name = EscapedText(name)
    nameBytes = ExactBytes(name)
  }

  private enum CodingKeys: String, CodingKey {
    case id = "pid"
    case name
    case nameBytes = "name_bytes"
  }
}

package struct ExitRecord: Sendable, Encodable {
  package let end: ProcessEnd
  let generation: Int
  package let survivors: [OtherProcess]?

  /// - Parameters:
  ///   - generation: which process of that name this was, from 1.
  ///   - survivors: processes that it has started and that still run, as far as they can be found; nil: not looked for.
  package init(_ end: ProcessEnd, generation: Int = 1, survivors: [OtherProcess]? = nil) {
    self.end = end
    self.generation = generation
    self.survivors = survivors
  }

  private enum CodingKeys: String, CodingKey {
    case status, signal, generation, survivors
  }

  /// Status and signal are always there, at least one of them null.
  package func encode(to encoder: any Encoder) throws {
    var status: Int32?
    var signal: Int32?
    switch end {
    case .unknown: break
    case .exited(let value): status = value
    case .signalled(let value): signal = value
    }
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(status, forKey: .status)
    try container.encode(signal, forKey: .signal)
    try container.encode(generation, forKey: .generation)
    try container.encodeIfPresent(survivors, forKey: .survivors)
  }
}

/// One thread of a dump.
package struct ThreadDumpRecord: Sendable, Encodable {
  let thread: ThreadRecord
  let stacks: [StackRecord]

  package init(_ stack: Stack) {
    let record = StackRecord(stack)
    thread = record.thread
    stacks = [record]
  }
}

/// How many threads of a dump have no stack for one reason.
package struct MissingStacks: Sendable, Encodable {
  let reason: EscapedText
  let threads: Int

  /// - Parameter reason: a sentence without a full stop.
  package init(reason: String, threads: Int) {
    self.reason = EscapedText(reason)
    self.threads = threads
  }
}

package struct DumpSummaryRecord: Sendable, Encodable {
  let threads: Int
  let withoutStack: Int
  /// Nil if none is missing.
  let missingStacks: [MissingStacks]?
  let omitted: Int
  let took: Milliseconds
  let targetStopped: Int64

  /// - Parameters:
  ///   - threads: number of `dump` records.
  ///   - missing: why some of these have no frame at all.
  ///   - omitted: threads that were there but are not in the dump.
  package init(
    threads: Int, missing: [MissingStacks], omitted: Int, took: Duration, targetStopped: Duration
  ) {
    self.threads = threads
    withoutStack = missing.reduce(0) { $0 + $1.threads }
    missingStacks = missing.isEmpty ? nil : missing
    self.omitted = omitted
    self.took = Milliseconds(took)
    self.targetStopped = targetStopped.wholeMicroseconds
  }

  private enum CodingKeys: String, CodingKey {
    case threads
    case withoutStack = "without_stack"
    case missingStacks = "missing_stacks"
    case omitted
    case took = "took_ms"
    case targetStopped = "target_stopped_us"
  }
}
