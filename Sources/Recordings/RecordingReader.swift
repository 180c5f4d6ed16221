// Reads a recording entry by entry, in the order in which they were written.

internal import StallCore

package struct RecordingReader {
  private var input: RecordingInput
  private var looks = LookDecoder()
  private var facts = FactDecoder()
  /// What was read about the look that follows.
  private var (late, isAfterCapture) = (Duration.zero, false)
  private var hasEnd = false

  package init(_ bytes: [UInt8]) throws(RecordingProblem) {
    let magic = RecordingFormat.magic
    guard bytes.starts(with: magic) else { throw .notARecording }
    input = RecordingInput(bytes, from: magic.count)
    let version = try input.number()
    guard version <= RecordingFormat.version else { throw .newerFormat(version) }
    guard version > 0 else { throw .notARecording }
  }

  /// Nil at the end of the file.
  package mutating func next() throws(RecordingProblem) -> RecordingEntry? {
    while !input.isAtEnd {
      let first = try input.byte()
      if first & RecordingFormat.repeatedLook != 0 { return look(try looks.repeated(first, &input)) }
      if first & RecordingFormat.changedLook != 0 { return look(try looks.changed(first, &input)) }
      let body = try input.part()
      if let kind = EntryKind(rawValue: first), let entry = try entry(kind, body) { return entry }
    }
    if !hasEnd { throw .endsEarly }
    return nil
  }

  private mutating func look(_ read: (thread: Int, look: ThreadObservation)) -> RecordingEntry {
    defer { (late, isAfterCapture) = (.zero, false) }
    return .look(
      RecordedLook(
        thread: read.thread, observation: read.look, late: late, isAfterCapture: isAfterCapture))
  }

  /// Nil: it belongs to the next one.
  private mutating func entry(
    _ kind: EntryKind, _ wholeBody: RecordingInput
  ) throws(RecordingProblem) -> RecordingEntry? {
    var body = wholeBody
    switch kind {
    case .late, .captured, .arrival, .blockBound:
      try takeOfNextLook(kind, &body)
      return nil
    case .watch: return .watch(try facts.watch(body))
    case .threadBegan: return .threadBegan(try thread(&body))
    case .threadEnded: return try threadEnded(&body, ifSet: .threadChanged, otherwise: .threadEnded)
    case .threadMissed: return .threadMissed(try threadIndex(&body))
    case .followedToEnd: return try threadEnded(&body, ifSet: .targetExited, otherwise: .watchEnded)
    case .worker:
      return .worker(
        try threadIndex(&body), threadID: try body.identifier(), name: try body.string())
    case .surroundings:
      let thread = try threadIndex(&body)
      return .surroundings(thread, try looks.reading(of: thread, &body))
    case .probed: return .probed(try looks.probeEvents(&body))
    case .pingTaken: return .pingTaken(after: try body.duration())
    case .clock: return .clock(try clock(&body))
    case .programReplaced: return .programReplaced(try threadIndex(&body))
    case .sightChanged: return .sightChanged(try threadIndex(&body))
    case .learned:
      return .learned(try threadIndex(&body), try body.meaning(), of: try body.site())
    case .judged: return .judged(try threadIndex(&body), try body.flag())
    case .gap: return .gap(try threadIndex(&body), try body.gap())
    case .phaseFact: return .phaseFact(try threadIndex(&body), try body.phaseFact())
    case .background: return .background(try threadIndex(&body), try body.flag())
    case .looksMissing: return .looksMissing(try body.number(upTo: Int(Int32.max)))
    case .notice: return .notice(try facts.notice(body))
    case .stack: return .stack(try facts.recordedStack(body))
    case .busyThread: return .busyThread(try facts.busyThread(body))
    case .exit: return .exit(try facts.exit(body))
    case .end:
      hasEnd = true
      return .end(try facts.end(body))
    }
  }

  /// Which of two ends it was is a flag.
  private mutating func threadEnded(
    _ body: inout RecordingInput, ifSet: Interruption, otherwise: Interruption
  ) throws(RecordingProblem) -> RecordingEntry {
    .threadEnded(try threadIndex(&body), at: try body.moment(), try body.flag() ? ifSet : otherwise)
  }

  private func clock(_ body: inout RecordingInput) throws(RecordingProblem) -> RecordedClock {
    let at = try body.moment()
    let wall = try body.number(upTo: Int(RecordingFormat.mostWallMicroseconds))
    return RecordedClock(at: at, wallMicroseconds: Int64(wall))
  }

  private mutating func takeOfNextLook(
    _ kind: EntryKind, _ body: inout RecordingInput
  ) throws(RecordingProblem) {
    switch kind {
    case .late: late = try body.duration()
    case .captured: isAfterCapture = true
    case .arrival:
      looks.arrival = .some(
        body.isAtEnd
          ? nil : ProcessorArrival(at: try body.moment(), cpuTime: try body.duration()))
    case .blockBound: looks.blockedNotBefore = .some(body.isAtEnd ? nil : try body.moment())
    default: break
    }
  }

  private func threadIndex(_ body: inout RecordingInput) throws(RecordingProblem) -> Int {
    try body.number(upTo: RecordingFormat.mostThreads - 1)
  }

  private func thread(_ body: inout RecordingInput) throws(RecordingProblem) -> RecordedThread {
    let index = try threadIndex(&body)
    let threadID = try body.identifier()
    let name = try body.string()
    guard let role = ThreadRole(rawValue: String(decoding: try body.string().bytes, as: UTF8.self)) else {
      throw body.damage
    }
    return RecordedThread(index: index, threadID: threadID, name: name, role: role)
  }
}
