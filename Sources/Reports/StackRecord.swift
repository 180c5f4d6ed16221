// Threads, stacks and frames in records.

package import StallCore

/// Who a thread is.
package struct ThreadRecord: Hashable, Sendable, Encodable {
  package let threadID: Int32
  package let name: EscapedText
  let nameBytes: ExactBytes?
  package let role: ThreadRole

  /// The name as it is, unescaped.
  package var exactName: ByteString { nameBytes?.exact ?? ByteString(name.text) }

  package init(threadID: Int32, name: ByteString, role: ThreadRole) {
    self.threadID = threadID
    self.name = EscapedText(name)
    nameBytes = ExactBytes(name)
    self.role = role
  }

  private enum CodingKeys: String, CodingKey {
    case threadID = "tid"
    case name
    case nameBytes = "name_bytes"
    case role
  }
}

/// A stack: the thread it belongs to, how it was had, and its frames, innermost first.
package struct StackRecord: Sendable, Encodable {
  let thread: ThreadRecord
  let captured: CaptureWay?
  let stopped: Duration
  let isApproximate: Bool
  let isCompleted: Bool
  let end: WalkEnd
  let missing: EscapedText?
  let frames: [FrameRecord]
  let kernelFrames: [KernelFrameRecord]
  /// Nil without frames: all empty stacks would be one place.
  let fingerprint: Fingerprint?
  /// For how much of the thread's time it stands; nil: it is no sample.
  let weight: Milliseconds?
  /// The deepest function of the program itself; for text only.
  let ownFunction: EscapedText?

  package init(_ stack: Stack) {
    thread = ThreadRecord(threadID: stack.threadID, name: stack.threadName, role: stack.role)
    captured = stack.way
    stopped = stack.stoppedFor
    isApproximate = stack.isApproximate
    isCompleted = stack.isCompleted
    end = stack.end
    missing = stack.missing.map { EscapedText($0) }
    frames = stack.frames.map(FrameRecord.init)
    kernelFrames = stack.kernelPart.frames.map(KernelFrameRecord.init)
    fingerprint = stack.frames.isEmpty ? nil : Fingerprint(stack)
    weight = stack.weight.map { Milliseconds($0) }
    ownFunction = stack.ownFunction.map { EscapedText($0) }
  }

  private enum CodingKeys: String, CodingKey {
    case weight = "weight_ms"
    case captured
    case stopped = "stopped_us"
    case isApproximate = "approximate"
    case isCompleted = "completed"
    case end = "walk_end"
    case missing, frames
    case kernelFrames = "kernel_frames"
  }

  package func encode(to encoder: any Encoder) throws {
    try thread.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encodeIfPresent(weight, forKey: .weight)
    try container.encodeIfPresent(captured, forKey: .captured)
    try container.encode(stopped.wholeMicroseconds, forKey: .stopped)
    try container.encode(isApproximate, forKey: .isApproximate)
    if isCompleted { try container.encode(true, forKey: .isCompleted) }
    try container.encode(end, forKey: .end)
    try container.encodeIfPresent(missing, forKey: .missing)
    try container.encode(frames, forKey: .frames)
    if !kernelFrames.isEmpty { try container.encode(kernelFrames, forKey: .kernelFrames) }
  }
}

struct KernelFrameRecord: Sendable, Encodable {
  let symbol: EscapedText
  let symbolOffset: Address
  let module: EscapedText?

  init(_ frame: KernelFrame) {
    symbol = EscapedText(frame.symbol)
    symbolOffset = Address(frame.symbolOffset)
    module = frame.module.map { EscapedText($0) }
  }

  private enum CodingKeys: String, CodingKey {
    case symbol
    case symbolOffset = "symbol_offset"
    case module
  }
}

struct FrameRecord: Hashable, Sendable, Encodable {
  let programCounter: Address
  let module: EscapedText?
  let moduleBytes: ExactBytes?
  let isModuleDeleted: Bool?
  let buildID: EscapedText?
  let offset: Address?
  let symbol: EscapedText?
  let symbolBytes: ExactBytes?
  let symbolOffset: Address?
  let rawSymbol: EscapedText?
  let rawSymbolBytes: ExactBytes?
  /// Nil if there are none.
  let aliases: [EscapedText]?
  let file: EscapedText?
  let fileBytes: ExactBytes?
  let line: Int?
  let isInlined: Bool
  let isSignalFrame: Bool
  /// Nil where it is not.
  let isGenerated: Bool?
  let trust: FrameTrust
  /// Last component of the module's path; for text only.
  let moduleName: EscapedText?

  init(_ frame: Frame) {
    programCounter = Address(frame.programCounter)
    module = frame.module.map { EscapedText($0.path) }
    moduleBytes = ExactBytes(frame.module?.path)
    isModuleDeleted = frame.module?.isDeleted
    buildID = frame.module?.buildID.map { EscapedText($0) }
    offset = frame.moduleOffset.map(Address.init)
    symbol = frame.symbol.map { EscapedText($0) }
    symbolBytes = ExactBytes(frame.symbol)
    symbolOffset = frame.symbolOffset.map(Address.init)
    rawSymbol = frame.rawSymbol.map { EscapedText($0) }
    rawSymbolBytes = ExactBytes(frame.rawSymbol)
    aliases = frame.aliases.isEmpty ? nil : frame.aliases.map { EscapedText($0) }
    file = frame.file.map { EscapedText($0) }
    fileBytes = ExactBytes(frame.file)
    line = frame.line
    isInlined = frame.isInlined
    isSignalFrame = frame.isSignalFrame
    isGenerated = frame.isGenerated ? true : nil
    trust = frame.trust
    moduleName = frame.module.map { EscapedText($0.name) }
  }

  private enum CodingKeys: String, CodingKey {
    case programCounter = "pc"
    case module
    case moduleBytes = "module_bytes"
    case isModuleDeleted = "module_deleted"
    case buildID = "build_id"
    case offset, symbol
    case symbolBytes = "symbol_bytes"
    case symbolOffset = "symbol_offset"
    case rawSymbol = "raw_symbol"
    case rawSymbolBytes = "raw_symbol_bytes"
    case aliases
    case file
    case fileBytes = "file_bytes"
    case line
    case isInlined = "inlined"
    case isSignalFrame = "signal_frame"
    case isGenerated = "generated"
    case trust
  }
}
