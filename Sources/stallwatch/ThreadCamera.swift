// Copies threads of one process through the helper process, and keeps account of how long they were held.

internal import Diagnosis
internal import Linux
internal import Observation
internal import Stacks
internal import StallCore

final class ThreadCamera {
  /// Ready for reading when the process has ended.
  let handle: ProcessHandle
  let mayStop: Bool
  let takesStacks: Bool
  /// One for each attempt at a thread of a dump.
  private let dumpDeadlines: [Duration]
  /// The kernel refuses to show what threads wait for, so stacks are not even asked for: a refusal can be a line in its log.
  var denied: Errno?
  var helper = CaptureHelper()
  /// Nil: they cannot be seen but through `/proc`, or are not to be.
  var blockedThreads: BlockedThreads?
  /// What was seen of all threads at once, for a dump.
  var crowd: SeenCrowd?
  /// Of the dump before this one, and of this one.
  var lastCopies = KeptCopies()
  var newCopies = KeptCopies()
  private(set) var targetStopped: Duration = .zero
  /// Why the last thread that was refused could not be copied.
  private(set) var refusal: Errno?
  var mappings = MappingsLog()

  /// `isForDump`: nobody is kept waiting but the person who asked for a dump.
  init(
    _ handle: consuming ProcessHandle, mayStop: Bool, takesStacks: Bool = true, isForDump: Bool = false
  ) {
    dumpDeadlines =
      isForDump ? [20, 60, 400].map { .milliseconds($0) } : [20, 20, 20].map { .milliseconds($0) }
    self.handle = handle
    self.mayStop = mayStop
    self.takesStacks = takesStacks
  }

  private var process: Int32 { handle.id }

  /// From now on threads that are off the CPU are copied without a stop.
  func use(_ program: TaskProgram) { blockedThreads = BlockedThreads(program) }

  /// Starts the helper before it is needed.
  func prepare() throws(CaptureFailure) { try helper.prepare() }

  var helperCPUTime: Duration { helper.cpuTime }

  /// What the executable of the process is; nil where its file does not answer soon.
  func executableFacts() -> ExecutableFacts? { (try? helper.executableFacts(of: process)) ?? nil }

  /// Where libdispatch's main queue is, if there is one and it can be found.
  func mainQueueAddress() throws(CaptureFailure) -> UInt64? {
    guard helper.isReady() else { throw .helperStarting }
    return try helper.mainQueueAddress(of: process)
  }

  /// Reads into the front of the buffer.
  func readMemory(of thread: Int32, at address: UInt64, _ length: Int, into buffer: inout [UInt8]) -> Bool {
    guard helper.isReady(), let bytes = try? helper.readMemory(ofThread: thread, at: address, count: length),
      bytes.count == length
    else { return false }
    buffer.replaceSubrange(..<length, with: bytes)
    return true
  }

  /// The number in so many bytes at an address; nil: the helper has no answer now.
  func readNumber(
    of thread: Int32, at address: UInt64, _ width: Int
  ) -> Result<UInt64, CaptureFailure>? {
    guard helper.isReady() else { return nil }
    do throws(CaptureFailure) {
      let bytes = try helper.readMemory(ofThread: thread, at: address, count: width)
      return bytes.count == width
        ? .success(bytes.littleEndian(at: 0, count: width)) : .failure(.refused(.badAddress))
    } catch {
      guard case .refused = error else { return nil }
      return .failure(error)
    }
  }

  /// Nothing lies at that address, but rights come first. The helper asks, since such a read can be held up.
  var isMemoryRefused: Bool {
    guard case .failure(.refused(let error)) = readNumber(of: process, at: 1, 1) else { return false }
    return error.meansNotAllowed
  }

  /// Nil: the helper has no answer now.
  func raiseWakeUp(waitingOn place: WakeUpPlace) -> Result<WakeUpCounter, WakeUpRefusal>? {
    guard helper.isReady() else { return nil }
    return (try? helper.raiseWakeUp(of: process, waitingOn: place)) ?? nil
  }

  /// What is known of a wake-up that was raised; nil: nothing now.
  func wakeUp(_ counter: WakeUpCounter) -> WakeUpState? {
    guard helper.isReady() else { return nil }
    do throws(CaptureFailure) {
      return try helper.isWakeUpTaken(counter, of: process).map { $0 ? .taken : .raised } ?? .gone
    } catch { return nil }
  }

  /// Threads may be copied without being stopped.
  var maySample: Bool { takesStacks && denied == nil }

  /// Copies a thread. `look` is what the watch has just seen of it, if it did. Only a dump waits for a helper that is
  /// not there yet. `isSample`: one of many, for which nobody is stopped.
  func capture(
    _ thread: Int32, role: ThreadRole, isParked: Bool = false, isDump: Bool = false,
    isSample: Bool = false, look: ThreadObservation? = nil,
    stall: Stall? = nil
  ) -> CapturedThread {
    let began = Instant.now
    let rules = CaptureRules(isParked: isParked, mayStop: mayStop && !isSample, isDump: isDump)
    let waits = isDump && denied == nil && takesStacks
    let evidence = evidenceReader(thread)
    // Before the capture: one that was held is not asleep again at once.
    let channel = look.flatMap { $0.isBlocked ? evidence.waitChannel : nil }
    var result: Result<RawCapture, CaptureFailure> =
      handle.hasEnded
      ? .failure(.gone) : waits ? captureWithPatience(thread, rules) : captureNow(thread, rules)
    if case .success(let raw) = result {
      targetStopped += raw.stoppedFor
      if let look, !raw.isOfBlock(seenBy: look) { result = .failure(.moved) }
      // Its id may have been somebody else's by then.
      if handle.hasEnded { result = .failure(.gone) }
    }
    let captured = CapturedThread(
      threadID: thread, name: name(of: thread), role: role, result: result,
      maps: maps(for: thread, result), kernelStack: kernelStack(of: thread, result),
      evidence: look.map {
        var gathered = evidence.gather(
          $0, sleepingIn: channel, stallClass: stall?.stallClass, userShare: stall?.breakdown.userShare,
          functions: [])
        gathered.throttled = stall?.surroundings?.throttled
        gathered.throttledShare = stall?.surroundings?.throttledShare ?? 0
        return gathered
      }, at: began)
    // One that was lost on the way is replaced now, or the next stall would have to wait for it.
    try? helper.prepare()
    return captured
  }

  /// Copies a thread in its wait, which nothing disturbs. `look` is what the watch has just seen.
  func copyWaiting(_ thread: Int32, role: ThreadRole, look: ThreadObservation) -> CapturedThread {
    let began = Instant.now
    var result = captureNow(thread, CaptureRules(isParked: true, mayStop: false))
    if case .success(let raw) = result, !raw.isOfBlock(seenBy: look) { result = .failure(.moved) }
    return CapturedThread(
      threadID: thread, name: name(of: thread), role: role, result: result, maps: maps(for: thread, result),
      at: began)
  }

  private func captureNow(_ thread: Int32, _ rules: CaptureRules) -> Result<RawCapture, CaptureFailure> {
    if !takesStacks { return .failure(.stacksOff) }
    if let denied { return .failure(.refused(denied)) }
    return helper.isReady() ? capture(thread, rules) : .failure(.helperStarting)
  }

  /// A thread that waits for a CPU stops only when it gets one, so on a busy machine a dump asks again.
  private func captureWithPatience(
    _ thread: Int32, _ rules: CaptureRules
  ) -> Result<RawCapture, CaptureFailure> {
    var result = Result<RawCapture, CaptureFailure>.failure(.timedOut)
    for deadline in dumpDeadlines {
      result = capture(thread, rules, deadline: deadline)
      guard case .failure(let failure) = result, failure.isPassing else { return result }
    }
    return result
  }

  /// Where there is no code of the program to be shown, it is asked for by itself.
  private func kernelStack(of thread: Int32, _ result: Result<RawCapture, CaptureFailure>) -> [UInt8] {
    switch result {
    case .success(let raw): return raw.kernelStack
    case .failure(.kernelThread), .failure(.thirtyTwoBit):
      return helper.isReady() ? (try? helper.kernelStack(ofThread: thread)) ?? [] : []
    case .failure: return []
    }
  }

  /// Only for a copy that needs them.
  func maps(for thread: Int32, _ result: Result<RawCapture, CaptureFailure>) -> SealedBytes? {
    guard case .success = result else { return nil }
    return mappings.maps(of: process, seenBy: thread) {
      try? helper.readMaps(processID: process, threadID: thread)
    }
  }

  func beginDump() { mappings.beginDump() }

  func endDump() {
    mappings.endDump()
    crowd = nil
    (lastCopies, newCopies) = (newCopies, KeptCopies())
  }

  /// For threads that are asked for together.
  var deadlineTogether: Duration { dumpDeadlines[1] }

  private func capture(
    _ thread: Int32, _ rules: CaptureRules, deadline: Duration = .milliseconds(20)
  ) -> Result<RawCapture, CaptureFailure> {
    if let result = copyBlocked(thread, deadline) { return result }
    let result = ask(thread, rules, nil, deadline)
    if case .failure(.refused(let reason)) = result { refusal = reason }
    return result
  }

  /// A thread that wakes every millisecond needs to be caught in between.
  private static let attemptsAtBlocked = 5

  /// Nil: it runs, moved each time, or has a stack that its registers do not lead to. Then other ways may do.
  private func copyBlocked(
    _ thread: Int32, _ deadline: Duration
  ) -> Result<RawCapture, CaptureFailure>? {
    for _ in 0..<Self.attemptsAtBlocked {
      guard let blocked = blockedThreads?.registers(of: thread) else { return nil }
      let result = ask(thread, CaptureRules(), blocked, deadline)
      switch result {
      case .failure(.moved): continue
      case .failure(.refused): return nil
      case .success, .failure: return result
      }
    }
    return nil
  }

  private func ask(
    _ thread: Int32, _ rules: CaptureRules, _ blocked: BlockedRegisters?, _ deadline: Duration
  ) -> Result<RawCapture, CaptureFailure> {
    do throws(CaptureFailure) {
      return .success(
        try helper.capture(
          processID: process, threadID: thread, rules: rules, blocked: blocked, deadline: deadline))
    } catch { return .failure(error) }
  }

  private func evidenceReader(_ thread: Int32) -> EvidenceReader {
    EvidenceReader(processID: process, threadID: thread) { [self] address, length in
      helper.isReady() ? try? helper.readMemory(ofThread: thread, at: address, count: length) : nil
    }
  }

  /// The argument vector; empty if the process has none any more, nil if it cannot be read.
  func commandLine() -> [ByteString]? { helper.arguments(of: process) }

  /// Any bytes but NUL; empty if the thread has ended.
  func name(of thread: Int32) -> ByteString {
    var bytes = (try? readPseudoFile("/proc/\(process)/task/\(thread)/comm")) ?? []
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    return ByteString(bytes)
  }
}

extension RawCapture {
  /// The thread is where the look saw it blocked; a running one can be anywhere.
  fileprivate func isOfBlock(seenBy look: ThreadObservation) -> Bool {
    guard case .blocked(let call) = look.activity else { return true }
    return registers.stackPointer == call.stackPointer
  }
}
