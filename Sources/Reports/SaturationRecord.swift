// A loop that never idles, as a record.

package import StallCore

package struct SaturationRecord: Sendable {
  let saturation: Saturation
  let startedAt: WallTime
  let thread: ThreadRecord
  let shares: HandlerShares
  let repetition: Repetition
  let stacks: [StackRecord]

  /// - Parameters:
  ///   - moment: that of the record; it gives the wall clock at the start.
  ///   - shares: from all stacks so far.
  ///   - stack: the newest one.
  package init(
    _ saturation: Saturation, at moment: Moment, thread: ThreadRecord, shares: HandlerShares,
    repetition: Repetition, stack: Stack?
  ) {
    self.saturation = saturation
    startedAt = moment.wall(at: saturation.startedAt)
    self.thread = thread
    self.shares = shares
    self.repetition = repetition
    stacks = stack.map { [StackRecord($0)] } ?? []
  }

  /// Of all that were found those with most time.
  var handlers: [HandlerRecord] { shares.shares.prefix(10).map { HandlerRecord($0, of: shares.weight) } }
}

/// A function, as in a frame.
struct FunctionRecord: Sendable, Encodable {
  let module: EscapedText?
  let moduleBytes: ExactBytes?
  let symbol: EscapedText?
  let symbolBytes: ExactBytes?
  let offset: Address?
  /// Last component of the module's path; for text only.
  let moduleName: EscapedText?

  init(_ function: FunctionIdentity) {
    module = function.module.map { EscapedText($0) }
    moduleBytes = ExactBytes(function.module)
    symbol = function.symbol.map { EscapedText($0) }
    symbolBytes = ExactBytes(function.symbol)
    offset = function.offset.map(Address.init)
    moduleName = function.module.map { EscapedText(ModuleReference(path: $0, buildID: nil).name) }
  }

  private enum CodingKeys: String, CodingKey {
    case module
    case moduleBytes = "module_bytes"
    case symbol
    case symbolBytes = "symbol_bytes"
    case offset
  }
}

struct HandlerRecord: Sendable, Encodable {
  let function: FunctionRecord
  let percent: Percent
  let weight: Milliseconds

  init(_ share: HandlerShare, of total: Duration) {
    function = FunctionRecord(share.handler)
    percent = Percent(share.weight, of: total) ?? Percent(0)
    weight = Milliseconds(share.weight)
  }

  private enum CodingKeys: String, CodingKey {
    case function, percent
    case weight = "weight_ms"
  }
}

extension SaturationRecord: Encodable {
  private enum CodingKeys: String, CodingKey {
    case id, state, interruption, thread
    case threshold = "threshold_ms"
    case startedAt = "started_at"
    case duration = "duration_ms"
    case atLeast = "duration_min_ms"
    case atMost = "duration_max_ms"
    case passes
    case longestPass = "longest_pass_ms"
    case breakdown = "breakdown_ms"
    case samples, loop, handlers
    case repetition = "repeat"
    case stacks
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(saturation.id, forKey: .id)
    try container.encode(saturation.state.word, forKey: .state)
    try container.encodeIfPresent(saturation.state.interruption, forKey: .interruption)
    try container.encode(thread, forKey: .thread)
    try container.encode(Milliseconds(saturation.threshold), forKey: .threshold)
    try container.encode(startedAt, forKey: .startedAt)
    try container.encode(Milliseconds(saturation.duration.likely), forKey: .duration)
    try container.encode(Milliseconds(saturation.duration.atLeast), forKey: .atLeast)
    try container.encode(saturation.duration.atMost.map { Milliseconds($0) }, forKey: .atMost)
    try container.encodeIfPresent(saturation.passes, forKey: .passes)
    try container.encodeIfPresent(saturation.longestPass.map { Milliseconds($0) }, forKey: .longestPass)
    try container.encode(BreakdownRecord(saturation.breakdown), forKey: .breakdown)
    try container.encode(shares.samples, forKey: .samples)
    try container.encodeIfPresent(shares.loop.map(FunctionRecord.init), forKey: .loop)
    try container.encode(handlers, forKey: .handlers)
    try container.encode(repetition, forKey: .repetition)
    try container.encode(stacks, forKey: .stacks)
  }
}
