// The entries that may be long: what was watched, stacks, and what was said; names are written once.

internal import StallCore

package struct FactEncoder {
  private var strings: [ByteString: Int] = [:]

  package init() {}

  package mutating func append(_ watch: RecordedWatch, to bytes: inout RecordingBytes) {
    var body = RecordingBytes()
    text(watch.writtenBy, &body)
    text(watch.watchID, &body)
    name(watch.host, &body)
    body.append(signed: Int64(watch.processID))
    name(watch.name, &body)
    body.append(list: watch.command) { name($0, &$1) }
    name(watch.executable, &body)
    name(watch.buildID.map { ByteString($0) }, &body)
    body.append(number: watch.startTicks.map { $0 &+ 1 } ?? 0)
    body.append(count: watch.generation)
    body.append(count: watch.threads)
    text(watch.observer, &body)
    body.append(list: watch.captureWays) { text($0.rawValue, &$1) }
    body.append(list: watch.missing) {
      text($0.what, &$1)
      text($0.why, &$1)
    }
    body.append(watch.threshold)
    body.append(watch.interval ?? .zero)
    body.append(number: UInt64(watch.cpuThreshold * 100))
    body.append(watch.cpuWindow)
    body.append(watch.startedAt)
    body.append(signed: Int64(watch.thread.threadID))
    name(watch.thread.name, &body)
    text(watch.thread.role.rawValue, &body)
    text(watch.threadReason, &body)
    name(watch.home.map { ByteString($0.text) }, &body)
    // Not among the numbered texts: who does not know the field would count on without it.
    body.append(string: Array(watch.probe.utf8))
    bytes.append(.watch, longBody: body)
  }

  package mutating func append(_ recorded: RecordedStack, to bytes: inout RecordingBytes) {
    var body = RecordingBytes()
    body.append(recorded.at)
    stack(recorded.stack, &body)
    body.append(recorded.cause == nil ? 0 : 1)
    if let cause = recorded.cause {
      text(cause.kind.rawValue, &body)
      text(cause.summary, &body)
      text(cause.confidence.rawValue, &body)
      body.append(list: cause.evidence) { text($0, &$1) }
    }
    body.append(list: recorded.companions) { stack($0, &$1) }
    bytes.append(.stack, longBody: body)
  }

  package mutating func append(_ busy: RecordedBusyThread, to bytes: inout RecordingBytes) {
    var body = RecordingBytes()
    body.append(busy.at)
    body.append(number: UInt64(max(0, min(busy.percent, 100)) * 100))
    body.append(busy.window)
    stack(busy.stack, &body)
    bytes.append(.busyThread, longBody: body)
  }

  package mutating func append(_ notice: RecordedNotice, to bytes: inout RecordingBytes) {
    var body = RecordingBytes()
    body.append(notice.at)
    text(notice.kind, &body)
    text(notice.text, &body)
    body.append(notice.loop == nil ? 0 : 1)
    if let loop = notice.loop {
      body.append(signed: Int64(loop.threadID))
      name(loop.home.map { ByteString($0) }, &body)
      name(loop.family.map { ByteString($0) }, &body)
      body.append(number: loop.parkedPercent.map { UInt64(max(0, min($0, 100)) * 100) + 1 } ?? 0)
      body.append(count: max(0, loop.nesting ?? 0))
    }
    bytes.append(.notice, longBody: body)
  }

  package mutating func append(_ exit: RecordedExit, to bytes: inout RecordingBytes) {
    var body = RecordingBytes()
    body.append(exit.at)
    switch exit.how {
    case .unknown: body.append(0)
    case .exited(let status):
      body.append(1)
      body.append(signed: Int64(status))
    case .signalled(let signal):
      body.append(2)
      body.append(signed: Int64(signal))
    }
    body.append(exit.survivors == nil ? 0 : 1)
    body.append(list: exit.survivors ?? []) {
      $1.append(signed: Int64($0.processID))
      name($0.name, &$1)
    }
    bytes.append(.exit, longBody: body)
  }

  package mutating func append(_ end: RecordedEnd, to bytes: inout RecordingBytes) {
    var body = RecordingBytes()
    body.append(end.at)
    body.append(end.cpuTime)
    body.append(end.targetStopped)
    bytes.append(.end, longBody: body)
  }

  private mutating func stack(_ stack: Stack, _ body: inout RecordingBytes) {
    body.append(signed: Int64(stack.threadID))
    name(stack.threadName, &body)
    text(stack.role.rawValue, &body)
    name(stack.way.map { ByteString($0.rawValue) }, &body)
    body.append(stack.stoppedFor)
    body.append((stack.isApproximate ? 1 : 0) | (stack.isCompleted ? 2 : 0))
    text(stack.end.rawValue, &body)
    name(stack.missing.map { ByteString($0) }, &body)
    body.append(list: stack.frames) { frame($0, &$1) }
  }

  private mutating func frame(_ frame: Frame, _ body: inout RecordingBytes) {
    body.append(FrameFlags(frame).rawValue)
    body.append(number: frame.programCounter)
    text(frame.trust.rawValue, &body)
    name(frame.module?.path, &body)
    if let module = frame.module {
      name(module.buildID.map { ByteString($0) }, &body)
    }
    if let offset = frame.moduleOffset { body.append(number: offset) }
    name(frame.symbol, &body)
    if let offset = frame.symbolOffset { body.append(number: offset) }
    name(frame.rawSymbol, &body)
    body.append(list: frame.aliases) { name($0, &$1) }
    name(frame.file, &body)
    body.append(count: max(0, frame.line.map { $0 + 1 } ?? 0))
  }

  private mutating func text(_ text: String, _ body: inout RecordingBytes) { name(ByteString(text), &body) }

  /// 0: nil; 1: a new one, which gets the next number; else two more than the number of one that was written before.
  private mutating func name(_ name: ByteString?, _ body: inout RecordingBytes) {
    guard let name else { return body.append(0) }
    if let number = strings[name] { return body.append(count: number + 2) }
    if strings.count < RecordingFormat.mostStrings { strings[name] = strings.count }
    body.append(1)
    body.append(string: name.bytes)
  }
}

/// What is true of a frame, and which of its numbers follow.
struct FrameFlags: OptionSet {
  let rawValue: UInt8

  static let isInlined = FrameFlags(rawValue: 1)
  static let isSignalFrame = FrameFlags(rawValue: 2)
  static let isGenerated = FrameFlags(rawValue: 4)
  static let isModuleDeleted = FrameFlags(rawValue: 8)
  static let hasModuleOffset = FrameFlags(rawValue: 16)
  static let hasSymbolOffset = FrameFlags(rawValue: 32)
}

extension FrameFlags {
  fileprivate init(_ frame: Frame) {
    self = []
    if frame.isInlined { insert(.isInlined) }
    if frame.isSignalFrame { insert(.isSignalFrame) }
    if frame.isGenerated { insert(.isGenerated) }
    if frame.module?.isDeleted ?? false { insert(.isModuleDeleted) }
    if frame.moduleOffset != nil { insert(.hasModuleOffset) }
    if frame.symbolOffset != nil { insert(.hasSymbolOffset) }
  }
}
