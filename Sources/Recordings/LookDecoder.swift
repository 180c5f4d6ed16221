// From bytes to looks: the other end of `LookEncoder`.

internal import StallCore

struct LookDecoder {
  /// What was read of the look that follows; nil: what the thread's last look had. Within: nil where it is not known.
  var arrival: ProcessorArrival??
  var blockedNotBefore: Instant??
  private var threads: [LookMemory] = []
  /// When the last thing happened to a question from outside.
  private var probedAt = Instant(nanoseconds: 0)
  /// Looks come in the order of time.
  private var latest = Instant(nanoseconds: 0)

  mutating func repeated(_ first: UInt8, _ input: inout RecordingInput) throws(RecordingProblem)
    -> (thread: Int, look: ThreadObservation)
  {
    let thread = Int(first >> 4 & 7)
    let deviation = UInt64(first & 0x0F) << 8 | UInt64(try input.byte())
    guard thread < threads.count else { throw input.damage }
    var look = threads[thread].last
    look.at = try moment(threads[thread], deviation, input)
    takeAnnounced(&look)
    threads[thread].remember(look)
    return (thread, look)
  }

  mutating func changed(_ first: UInt8, _ input: inout RecordingInput) throws(RecordingProblem)
    -> (thread: Int, look: ThreadObservation)
  {
    let thread = try input.number(upTo: RecordingFormat.mostThreads - 1)
    while threads.count <= thread { threads.append(LookMemory()) }
    var look = threads[thread].last
    look.at = try moment(threads[thread], try input.number(), input)
    try threads[thread].read(LookChanges(rawValue: first & 0x3F), into: &look, &input)
    takeAnnounced(&look)
    threads[thread].remember(look)
    return (thread, look)
  }

  mutating func reading(of thread: Int, _ body: inout RecordingInput) throws(RecordingProblem)
    -> SurroundingsReading
  {
    while threads.count <= thread { threads.append(LookMemory()) }
    let reading = try body.reading(after: threads[thread].reading)
    threads[thread].reading = reading
    return reading
  }

  mutating func probeEvents(_ body: inout RecordingInput) throws(RecordingProblem) -> [ProbeEvent] {
    try body.probeEvents(after: &probedAt)
  }

  private mutating func takeAnnounced(_ look: inout ThreadObservation) {
    if let arrival { look.arrival = arrival }
    if let blockedNotBefore { look.blockedNotBefore = blockedNotBefore }
    (arrival, blockedNotBefore) = (nil, nil)
  }

  private mutating func moment(
    _ memory: LookMemory, _ deviation: UInt64, _ input: RecordingInput
  ) throws(RecordingProblem) -> Instant {
    let (sum, overflow) = memory.expected.addingReportingOverflow(Int64(zigzag: deviation))
    guard !overflow, (latest.microseconds...RecordingFormat.mostMicroseconds).contains(sum) else {
      throw input.damage
    }
    latest = Instant(microseconds: sum)
    return latest
  }
}

extension LookMemory {
  fileprivate mutating func read(
    _ changes: LookChanges, into look: inout ThreadObservation, _ input: inout RecordingInput
  ) throws(RecordingProblem) {
    if changes.contains(.counts) {
      look.cpuTime = try input.duration(after: look.cpuTime)
      look.runQueueDelay = try input.duration(after: look.runQueueDelay)
      look.timesScheduled &+= UInt64(bitPattern: try input.signed())
      look.voluntarySwitches &+= UInt64(bitPattern: try input.signed())
    }
    if changes.contains(.ticks) {
      look.userTicks &+= UInt64(bitPattern: try input.signed())
      look.kernelTicks &+= UInt64(bitPattern: try input.signed())
    }
    if changes.contains(.place) {
      guard let state = ThreadState(rawValue: try input.byte()) else { throw input.damage }
      look.state = state
      look.activity = try activity(&input)
    }
    if changes.contains(.blockedSince) { look.blockedSince = try input.moment(before: look.at) }
    if changes.contains(.descriptors) { look.descriptors = try input.descriptors() }
    if changes.contains(.passes) { look.passes = try input.passes(before: look.at) }
  }

  private mutating func activity(_ input: inout RecordingInput) throws(RecordingProblem) -> Activity {
    let code = try input.byte()
    switch code {
    case ActivityCode.running: return .running
    case ActivityCode.unknown: return .unknown
    case ActivityCode.outsideCall:
      return .blockedOutsideCall(stackPointer: try input.number(), programCounter: try input.number())
    case ActivityCode.newCall: return .blocked(try newCall(&input))
    case ActivityCode.sameCall..<ActivityCode.otherArguments: return .blocked(calls[Int(code & 0x0F)])
    case ActivityCode.otherArguments..<0x40:
      let slot = Int(code & 0x0F)
      var call = calls[slot]
      call.arguments = try input.arguments(after: call.arguments)
      calls.replace(slot, with: call)
      return .blocked(call)
    default:
      guard let activity = ActivityCode.blockedByKind(code) else { throw input.damage }
      return activity
    }
  }

  private mutating func newCall(_ input: inout RecordingInput) throws(RecordingProblem) -> BlockedCall {
    let number = Int(Int64(bitPattern: try input.number()))
    let (stackPointer, programCounter) = (try input.number(), try input.number())
    let call = BlockedCall(
      number: number, arguments: try input.arguments(after: InlineArguments()), stackPointer: stackPointer,
      programCounter: programCounter)
    calls.add(call)
    return call
  }
}

extension RecordingInput {
  /// Time on a CPU, which is never negative, though it may go back where an id is used again.
  mutating func duration(after former: Duration) throws(RecordingProblem) -> Duration {
    try duration(try signed(), after: former)
  }

  func duration(_ difference: Int64, after former: Duration) throws(RecordingProblem) -> Duration {
    let (sum, overflow) = former.microseconds.addingReportingOverflow(difference)
    guard !overflow, (0...RecordingFormat.mostMicroseconds).contains(sum) else { throw damage }
    return .microseconds(sum)
  }

  fileprivate mutating func arguments(
    after former: InlineArguments
  ) throws(RecordingProblem) -> InlineArguments {
    let mask = try byte()
    var arguments = former
    for index in 0..<InlineArguments.count where mask & 1 << UInt8(index) != 0 {
      arguments[index] = former[index] &+ UInt64(bitPattern: try signed())
    }
    return arguments
  }

  fileprivate mutating func moment(before later: Instant) throws(RecordingProblem) -> Instant? {
    let distance = try number()
    if distance == 0 { return nil }
    guard distance - 1 <= UInt64(later.microseconds) else { throw damage }
    return Instant(microseconds: later.microseconds - Int64(distance - 1))
  }

  mutating func descriptors() throws(RecordingProblem) -> DescriptorSet? {
    let count = try number(upTo: DescriptorSet.capacity + 1)
    if count == 0 { return nil }
    var set = DescriptorSet()
    var descriptor = 0
    for _ in 1..<count {
      descriptor += try number(upTo: Int(Int32.max))
      guard let value = Int32(exactly: descriptor) else { throw damage }
      set.insert(value)
    }
    return set
  }

  fileprivate mutating func passes(before later: Instant) throws(RecordingProblem) -> PassSight? {
    let code = try byte()
    if code == 0 { return nil }
    guard let source = PassSource(code: code & 15),
      let passSource = code >> 4 == 0 ? source : PassSource(code: code >> 4)
    else { throw damage }
    var passes = PassSight(
      source: source, firstPass: try moment(before: later), lastPass: try moment(before: later),
      lastPassAfter: try moment(before: later), quietSince: try moment(before: later))
    passes.passSource = passSource
    passes.count = try number(upTo: Int(Int32.max))
    passes.longestRound = try duration()
    return passes
  }
}
