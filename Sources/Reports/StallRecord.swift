// A stall, or what may be one, as a record.

package import StallCore

extension Repetition: Encodable {
  private enum CodingKeys: String, CodingKey {
    case count, suppressed
    case quiet = "quiet_ms"
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(count, forKey: .count)
    try container.encode(suppressed, forKey: .suppressed)
    try container.encodeIfPresent(quiet.map { Milliseconds($0) }, forKey: .quiet)
  }
}

package struct StallRecord: Sendable {
  let stall: Stall
  let startedAt: WallTime
  let thread: ThreadRecord
  let cause: CauseRecord?
  let fingerprint: Fingerprint?
  let repetition: Repetition
  let stacks: [StackRecord]
  let sampling: SamplingRecord?
  /// How many calls of the event loop are on the stack; nil where it is not nested.
  let loopNesting: Int?

  /// - Parameters:
  ///   - moment: that of the record; it gives the wall clock at the start of the stall.
  ///   - stacks: the stalled thread's, heaviest first; others (the owner of a lock) after them.
  ///   - sampling: what the weights of the stalled thread's stacks rest on.
  package init(
    _ stall: Stall, at moment: Moment, thread: ThreadRecord, cause: Cause?, repetition: Repetition,
    stacks: [Stack], sampling: SamplingRecord? = nil, loopNesting: Int = 0
  ) {
    self.sampling = sampling
    self.loopNesting = loopNesting > 1 ? loopNesting : nil
    self.stall = stall
    startedAt = moment.wall(at: stall.startedAt)
    self.thread = thread
    self.cause = cause.map(CauseRecord.init)
    self.repetition = repetition
    self.stacks = stacks.map(StackRecord.init)
    fingerprint = self.stacks.first?.fingerprint
  }
}

struct CauseRecord: Sendable, Encodable, Equatable {
  let kind: CauseKind
  let summary: EscapedText
  let confidence: Confidence
  let evidence: [EscapedText]

  init(_ cause: Cause) {
    kind = cause.kind
    summary = EscapedText(cause.summary)
    confidence = cause.confidence
    evidence = cause.evidence.map { EscapedText($0) }
  }
}

extension StallState {
  var word: String {
    switch self {
    case .ongoing: "ongoing"
    case .ended: "ended"
    case .interrupted: "interrupted"
    }
  }

  var interruption: Interruption? {
    if case .interrupted(let why) = self { why } else { nil }
  }
}

extension StallRecord: Encodable {
  private enum CodingKeys: String, CodingKey {
    case id, state, interruption, thread, phase
    case threshold = "threshold_ms"
    case startedAt = "started_at"
    case duration = "duration_ms"
    case atLeast = "duration_min_ms"
    case atMost = "duration_max_ms"
    case verified, proof
    case stallClass = "class"
    case breakdown = "breakdown_ms"
    case surroundings, probe
    case cause
    case loopNesting = "loop_nesting"
    case fingerprint
    case repetition = "repeat"
    case sampling, stacks
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(stall.id, forKey: .id)
    try container.encode(stall.state.word, forKey: .state)
    try container.encodeIfPresent(stall.state.interruption, forKey: .interruption)
    try container.encode(thread, forKey: .thread)
    try container.encode(stall.phase.rawValue, forKey: .phase)
    try container.encode(Milliseconds(stall.threshold), forKey: .threshold)
    try container.encode(startedAt, forKey: .startedAt)
    try container.encode(Milliseconds(stall.duration.likely), forKey: .duration)
    try container.encode(Milliseconds(stall.duration.atLeast), forKey: .atLeast)
    try container.encode(stall.duration.atMost.map { Milliseconds($0) }, forKey: .atMost)
    try container.encode(stall.isVerified, forKey: .verified)
    try container.encode(stall.proof.rawValue, forKey: .proof)
    try container.encode(stall.stallClass, forKey: .stallClass)
    try container.encode(BreakdownRecord(stall.breakdown), forKey: .breakdown)
    try container.encodeIfPresent(stall.surroundings.map(SurroundingsRecord.init), forKey: .surroundings)
    try container.encodeIfPresent(stall.probe.map(ProbeWaitRecord.init), forKey: .probe)
    try container.encodeIfPresent(cause, forKey: .cause)
    try container.encodeIfPresent(loopNesting, forKey: .loopNesting)
    try container.encodeIfPresent(fingerprint?.text, forKey: .fingerprint)
    try container.encode(repetition, forKey: .repetition)
    try container.encodeIfPresent(sampling, forKey: .sampling)
    try container.encode(stacks, forKey: .stacks)
  }
}

struct BreakdownRecord: Encodable {
  let onCPU: Milliseconds
  let onCPUInKernel: Milliseconds?
  let runnable: Milliseconds
  let blocked: Milliseconds
  let stopped: Milliseconds
  let stolen: Milliseconds
  let blind: Milliseconds

  init(_ breakdown: TimeBreakdown) {
    onCPU = Milliseconds(breakdown.onCPU)
    onCPUInKernel = breakdown.onCPUInKernel.map { Milliseconds($0) }
    runnable = Milliseconds(breakdown.runnable)
    blocked = Milliseconds(breakdown.blocked)
    stopped = Milliseconds(breakdown.stopped)
    stolen = Milliseconds(breakdown.stolen)
    blind = Milliseconds(breakdown.blind)
  }

  private enum CodingKeys: String, CodingKey {
    case onCPU = "on_cpu"
    case onCPUInKernel = "on_cpu_kernel_estimate"
    case runnable, blocked, stopped, stolen, blind
  }
}
