// The other end of `FactEncoder`: bodies of long entries, and the names that they refer to.

internal import StallCore

struct FactDecoder {
  private var strings: [ByteString] = []

  mutating func watch(_ body: RecordingInput) throws(RecordingProblem) -> RecordedWatch {
    var (body, watch) = (body, RecordedWatch())
    watch.writtenBy = try text(&body)
    watch.watchID = try text(&body)
    watch.host = try name(&body)
    watch.processID = try body.identifier()
    watch.name = try name(&body)
    for _ in 0..<(try body.count()) { watch.command.append(try name(&body)) }
    watch.executable = try optionalName(&body)
    watch.buildID = try optionalText(&body)
    let startTicks = try body.number()
    watch.startTicks = startTicks == 0 ? nil : startTicks - 1
    watch.generation = try body.number(upTo: Int(Int32.max))
    watch.threads = try body.number(upTo: Int(Int32.max))
    watch.observer = try text(&body)
    for _ in 0..<(try body.count()) { watch.captureWays.append(try word(&body)) }
    for _ in 0..<(try body.count()) {
      watch.missing.append(RecordedWatch.Missing(what: try text(&body), why: try text(&body)))
    }
    watch.threshold = try body.duration()
    let interval = try body.duration()
    watch.interval = interval == .zero ? nil : interval
    watch.cpuThreshold = Double(try body.number(upTo: 10_000)) / 100
    watch.cpuWindow = try body.duration()
    watch.startedAt = try body.moment()
    watch.thread.threadID = try body.identifier()
    watch.thread.name = try name(&body)
    watch.thread.role = try word(&body)
    watch.threadReason = try text(&body)
    watch.home = try optionalText(&body).flatMap { HomeSelector($0) }
    // Recordings of before have none.
    if !body.isAtEnd { watch.probe = String(decoding: try body.string().bytes, as: UTF8.self) }
    return watch
  }

  mutating func recordedStack(_ body: RecordingInput) throws(RecordingProblem) -> RecordedStack {
    var body = body
    let at = try body.moment()
    let stack = try stack(&body)
    let cause = try body.flag() ? try cause(&body) : nil
    var companions: [Stack] = []
    for _ in 0..<(try body.count()) { companions.append(try self.stack(&body)) }
    return RecordedStack(at: at, stack: stack, cause: cause, companions: companions)
  }

  mutating func busyThread(_ body: RecordingInput) throws(RecordingProblem) -> RecordedBusyThread {
    var body = body
    let at = try body.moment()
    let percent = Double(try body.number(upTo: 10_000)) / 100
    return RecordedBusyThread(
      at: at, percent: percent, window: try body.duration(), stack: try stack(&body))
  }

  mutating func notice(_ body: RecordingInput) throws(RecordingProblem) -> RecordedNotice {
    var body = body
    let (at, kind, text) = (try body.moment(), try text(&body), try text(&body))
    return RecordedNotice(at: at, kind: kind, text: text, loop: try body.flag() ? try loop(&body) : nil)
  }

  private mutating func loop(_ body: inout RecordingInput) throws(RecordingProblem) -> RecordedLoop {
    let threadID = try body.identifier()
    let (home, family) = (try optionalText(&body), try optionalText(&body))
    let parked = try body.number(upTo: 10_001)
    let nesting = try body.number(upTo: Int(Int32.max))
    return RecordedLoop(
      threadID: threadID, home: home, family: family,
      parkedPercent: parked == 0 ? nil : Double(parked - 1) / 100, nesting: nesting == 0 ? nil : nesting)
  }

  mutating func exit(_ body: RecordingInput) throws(RecordingProblem) -> RecordedExit {
    var body = body
    let at = try body.moment()
    let how: RecordedExit.How
    switch try body.byte() {
    case 0: how = .unknown
    case 1: how = .exited(try body.identifier())
    case 2: how = .signalled(try body.identifier())
    default: throw body.damage
    }
    var survivors: [RecordedExit.Survivor]? = try body.flag() ? [] : nil
    for _ in 0..<(try body.count()) {
      survivors?.append(
        RecordedExit.Survivor(processID: try body.identifier(), name: try name(&body)))
    }
    return RecordedExit(at: at, how: how, survivors: survivors)
  }

  func end(_ body: RecordingInput) throws(RecordingProblem) -> RecordedEnd {
    var body = body
    return RecordedEnd(
      at: try body.moment(), cpuTime: try body.duration(), targetStopped: try body.duration())
  }

  private mutating func cause(_ body: inout RecordingInput) throws(RecordingProblem) -> Cause {
    let kind: CauseKind = try word(&body)
    let summary = try text(&body)
    let confidence: Confidence = try word(&body)
    var evidence: [String] = []
    for _ in 0..<(try body.count()) { evidence.append(try text(&body)) }
    return Cause(kind, summary, confidence: confidence, evidence: evidence)
  }

  private mutating func stack(_ body: inout RecordingInput) throws(RecordingProblem) -> Stack {
    let threadID = try body.identifier()
    let threadName = try name(&body)
    let role: ThreadRole = try word(&body)
    var way: CaptureWay?
    if let known = try optionalText(&body) {
      way = CaptureWay(rawValue: known)
      if way == nil { throw body.damage }
    }
    let stoppedFor = try body.duration()
    let flags = try body.byte()
    let end: WalkEnd = try word(&body)
    var stack = Stack(
      threadID: threadID, threadName: threadName, role: role, way: way, stoppedFor: stoppedFor, end: end,
      frames: [])
    stack.isApproximate = flags & 1 != 0
    stack.isCompleted = flags & 2 != 0
    stack.missing = try optionalText(&body)
    for _ in 0..<(try body.count()) { stack.frames.append(try frame(&body)) }
    return stack
  }

  private mutating func frame(_ body: inout RecordingInput) throws(RecordingProblem) -> Frame {
    let flags = FrameFlags(rawValue: try body.byte())
    let programCounter = try body.number()
    var frame = Frame(programCounter: programCounter, trust: try word(&body))
    if let path = try optionalName(&body) {
      frame.module = ModuleReference(
        path: path, buildID: try optionalText(&body), isDeleted: flags.contains(.isModuleDeleted))
    }
    if flags.contains(.hasModuleOffset) { frame.moduleOffset = try body.number() }
    frame.symbol = try optionalName(&body)
    if flags.contains(.hasSymbolOffset) { frame.symbolOffset = try body.number() }
    frame.rawSymbol = try optionalName(&body)
    for _ in 0..<(try body.count()) { frame.aliases.append(try name(&body)) }
    frame.file = try optionalName(&body)
    let line = try body.number(upTo: Int(Int32.max))
    frame.line = line == 0 ? nil : line - 1
    frame.isInlined = flags.contains(.isInlined)
    frame.isSignalFrame = flags.contains(.isSignalFrame)
    frame.isGenerated = flags.contains(.isGenerated)
    return frame
  }

  private mutating func optionalName(
    _ body: inout RecordingInput
  ) throws(RecordingProblem) -> ByteString? {
    let number = try body.number(upTo: RecordingFormat.mostStrings + 1)
    if number == 0 { return nil }
    if number > 1 {
      guard number - 2 < strings.count else { throw body.damage }
      return strings[number - 2]
    }
    let name = try body.string()
    if strings.count < RecordingFormat.mostStrings { strings.append(name) }
    return name
  }

  private mutating func name(_ body: inout RecordingInput) throws(RecordingProblem) -> ByteString {
    guard let name = try optionalName(&body) else { throw body.damage }
    return name
  }

  private mutating func optionalText(_ body: inout RecordingInput) throws(RecordingProblem) -> String? {
    try optionalName(&body).map { String(decoding: $0.bytes, as: UTF8.self) }
  }

  private mutating func text(_ body: inout RecordingInput) throws(RecordingProblem) -> String {
    String(decoding: try name(&body).bytes, as: UTF8.self)
  }

  private mutating func word<Word: RawRepresentable<String>>(
    _ body: inout RecordingInput
  ) throws(RecordingProblem) -> Word {
    guard let word = Word(rawValue: try text(&body)) else { throw body.damage }
    return word
  }
}

extension RecordingInput {
  /// How many items follow.
  fileprivate mutating func count() throws(RecordingProblem) -> Int {
    try number(upTo: RecordingFormat.mostItems)
  }
}
