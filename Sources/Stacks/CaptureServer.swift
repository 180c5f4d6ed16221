// The helper process: it does everything that can block, and is killed when it blocks too long.

internal import Linux
internal import StallCore

/// Answers the questions of a `CaptureHelper`, one after another, until the other end of the socket is closed.
///
/// It holds nothing that anyone would miss. Killed at any moment, it takes nothing along: the kernel lets a tracee go
/// when its tracer dies.
package struct CaptureServer: ~Copyable {
  private let socket: MessageSocket
  private let buffer = CopyBuffer()
  private let seizing = RefusedWay()
  private let sampling = RefusedWay()
  private let readingKernelStacks = RefusedWay()
  private let maps = ToldMaps()
  /// Opening a perf event is quick as long as one is open.
  private let keeper = try? PerfEvent(PerfEventAttributes(.dummy), thread: 0, dataPages: 0)

  /// The whole life of the process.
  package static func run(socket: Int32) -> Never {
    OwnProcess.becomeWorker(named: "stallwatch-copy")
    OwnProcess.raisePriority()
    let server = CaptureServer(socket: MessageSocket(owning: FileDescriptor(owning: socket)))
    // Fails when the watch has gone, and then nobody is left to tell.
    try? server.serve()
    OwnProcess.endAtOnce()
  }

  private init(socket: consuming MessageSocket) { self.socket = socket }

  private func serve() throws(Errno) {
    try socket.send(CaptureReply(id: CaptureReply.helloID).encoded())
    while true {
      let message = try socket.receive(capacity: CaptureRequest.mostBytes + 1)
      guard let request = CaptureRequest(decoding: message.bytes) else { return }
      if try answer(request).isLast { return }
    }
  }

  private func answer(_ request: CaptureRequest) throws(Errno) -> CaptureReply {
    var reply = CaptureReply(id: request.id)
    var file: SharedFile?
    do { file = try fill(&reply, for: request) } catch {
      reply = CaptureReply(id: request.id, failure: error)
    }
    // A thread that could not be let go, or changed its id by an exec, is let go by our end.
    reply.isLast = Ptrace.holdsSomebody()
    try socket.send(reply.encoded(), descriptor: file?.rawDescriptor ?? -1)
    return reply
  }

  /// What is too long for the reply comes back as a sealed file; so do files that were opened.
  private func fill(
    _ reply: inout CaptureReply, for request: CaptureRequest
  ) throws(CaptureFailure) -> SharedFile? {
    switch request.kind {
    case .thread: return try captureThread(request, &reply)
    case .threads: return try captureThreads(request, &reply)
    case .maps: return try maps.answer(request, &reply)
    case .commandLine: return try readFile("/proc/\(request.processID)/cmdline")
    case .memory:
      reply.bytes = try readMemory(request)
      return nil
    case .kernelStack:
      reply.bytes = kernelStack(of: ThreadLook(processID: request.processID, threadID: request.threadID))
      return nil
    case .executable:
      reply.bytes = ExecutableFacts(process: request.processID)?.encoded ?? []
      return nil
    case .mainQueue:
      reply.bytes = request.mainQueue()
      return nil
    case .raiseWakeUp:
      reply.bytes = request.raiseWakeUp()
      return nil
    case .wakeUp:
      reply.bytes = request.isWakeUpTaken()
      return nil
    case .mappedFile, .debugFile, .perfMap, .copyOfModule: return request.openFile()
    }
  }

  private func captureThread(
    _ request: CaptureRequest, _ reply: inout CaptureReply
  ) throws(CaptureFailure) -> SharedFile? {
    let captured = try copyThread(request, &reply)
    reply.tell(of: captured)
    reply.kernelAddresses = captured.kernelAddresses
    if reply.stack.count == 0 { return nil }
    return try sealed(unsafe buffer.prefix(reply.stack.count).bytes)
  }

  /// Whoever has read its registers can read them again when it has moved; nothing else needs to be known of such a thread.
  private func copyThread(
    _ request: CaptureRequest, _ reply: inout CaptureReply
  ) throws(CaptureFailure) -> CapturedThread {
    guard let blocked = request.blocked else {
      var attempt = Attempt(request)
      return try tryWays(request, &attempt)
    }
    let captured = try IteratorCapture.take(blocked, buffer: buffer, limit: request.count)
    let look = ThreadLook(processID: request.processID, threadID: request.threadID)
    reply.bytes = kernelStack(of: look) { blocked.hasNotMoved(until: $0) }
    return captured
  }

  /// Nothing if the thread moved meanwhile, or was not where it was taken to be.
  private func kernelStack(
    of look: ThreadLook, if isOfTheMoment: (SchedulerStatistics) -> Bool = { _ in true }
  ) -> [UInt8] {
    if readingKernelStacks.refused != nil { return [] }
    do throws(CaptureFailure) {
      let before = try look.schedulerStatistics()
      guard isOfTheMoment(before), try look.state() != UInt8(ascii: "R") else { return [] }
      let text = try look.kernelStack()
      readingKernelStacks.succeed()
      return try look.schedulerStatistics().timesScheduled == before.timesScheduled ? text : []
    } catch {
      readingKernelStacks.fail(error)
      return []
    }
  }

  /// Beyond this, those that are left are to be asked for again.
  private static let mostBytesOfThreads = 4 << 20

  /// Nobody is held, since one that does not come to a stop would cost all the others.
  private func captureThreads(
    _ request: CaptureRequest, _ reply: inout CaptureReply
  ) throws(CaptureFailure) -> SharedFile? {
    guard let members = request.members else { throw .malformedReply }
    let end = Clock.monotonicNanoseconds &+ max(0, request.patience) / 2
    do throws(Errno) {
      var stacks = try SealedBytes.Builder()
      for member in members {
        let isLate = Clock.monotonicNanoseconds > end || stacks.count > Self.mostBytesOfThreads
        let answer = isLate ? CaptureReply(id: request.id, failure: .timedOut) : capture(member, request)
        if answer.stack.count > 0 { try stacks.append(unsafe buffer.prefix(answer.stack.count).bytes) }
        reply.bytes += answer.encoded()
      }
      if Clock.monotonicNanoseconds < end { reply.areMapsAsKnown = maps.areAsKnown(to: request) }
      if stacks.count == 0 { return nil }
      return try stacks.seal()
    } catch { throw CaptureFailure(error) }
  }

  private func capture(_ member: GroupMember, _ group: CaptureRequest) -> CaptureReply {
    let request = group.request(for: member)
    var reply = CaptureReply(id: request.id)
    do { reply.tell(of: try copyTogether(member, request)) } catch {
      reply = CaptureReply(id: request.id, failure: error)
    }
    return reply
  }

  /// What the kernel does for it is left out: there is no room for that.
  private func copyTogether(
    _ member: GroupMember, _ request: CaptureRequest
  ) throws(CaptureFailure) -> CapturedThread {
    if let blocked = member.blocked {
      return try IteratorCapture.take(
        blocked, buffer: buffer, limit: request.count, isWhole: request.isWhole)
    }
    var attempt = Attempt(request)
    attempt.maySeize = false
    return try tryWays(request, &attempt)
  }

  /// A thread that wakes every millisecond may move during each copy, and needs to be caught in between.
  private static let attempts = 5

  private func tryWays(
    _ request: CaptureRequest, _ attempt: inout Attempt
  ) throws(CaptureFailure) -> CapturedThread {
    for _ in 1..<Self.attempts {
      do { return try tryWaysOnce(request, &attempt) } catch { if error != .moved { throw error } }
    }
    attempt.isLast = true
    return try tryWaysOnce(request, &attempt)
  }

  private struct Attempt {
    /// Three quarters of what the watch waits: the rest is for the other ways.
    let lastSample: Int64
    var maySample = true
    var maySeize = true
    var isLast = false

    init(_ request: CaptureRequest) {
      lastSample = Clock.monotonicNanoseconds &+ max(0, request.patience) / 4 * 3
    }
  }

  private func tryWaysOnce(
    _ request: CaptureRequest, _ attempt: inout Attempt
  ) throws(CaptureFailure) -> CapturedThread {
    let look = ThreadLook(processID: request.processID, threadID: request.threadID)
    let plan = CapturePolicy.plan(try look.conditions(), request.rules)
    var failure = plan.reasonNotToStop ?? .running
    for way in plan.ways {
      if way == .ptrace, !attempt.maySeize { throw .timedOut }
      do {
        switch way {
        case .ptrace: return try seize(request, look, isLast: attempt.isLast)
        case .syscallFile: return try SyscallFileCapture.take(look, buffer: buffer, limit: request.count)
        case .perf where attempt.maySample: return try sample(request, look, until: attempt.lastSample)
        case .taskIterator, .perf: continue
        }
      } catch let error {
        if way == .perf { try afterSampling(error, &attempt) }
        if way != .perf || plan.reasonNotToStop == nil {
          failure = error
        } else if failure == .running, case .refused(let reason) = error {
          failure = .runningUnsampled(reason)
        }
      }
    }
    throw hasEnded(look) ? .gone : failure
  }

  /// Whether another way is worth trying at once. A thread that got no CPU would not come to a stop either.
  private func afterSampling(_ failure: CaptureFailure, _ attempt: inout Attempt) throws(CaptureFailure) {
    switch failure {
    case .timedOut: throw failure
    case .running: attempt.maySample = false
    case .moved: break
    default: return
    }
    // What was seen of the thread is out of date.
    if !attempt.isLast { throw .moved }
  }

  private func sample(
    _ request: CaptureRequest, _ look: ThreadLook, until lastSample: Int64
  ) throws(CaptureFailure) -> CapturedThread {
    if let refused = sampling.refused { throw refused }
    do {
      let captured = try PerfCapture.take(look, buffer: buffer, limit: request.count, until: lastSample)
      sampling.succeed()
      return captured
    } catch {
      sampling.fail(error)
      throw error
    }
  }

  private func seize(
    _ request: CaptureRequest, _ look: ThreadLook, isLast: Bool
  ) throws(CaptureFailure) -> CapturedThread {
    if let refused = seizing.refused { throw refused }
    let before = try? look.schedulerStatistics()
    do {
      let captured = try PtraceCapture.take(request.threadID, buffer: buffer, limit: request.count)
      seizing.succeed()
      return captured
    } catch {
      if hasEnded(look) { throw .gone }
      // It may have ended all the same, and one that executes a program have taken its id.
      if case .refused = error, !isLast, before != (try? look.schedulerStatistics()) { throw .moved }
      seizing.fail(error)
      throw error
    }
  }

  /// A thread on its way out refuses in several ways (PTRACE_SEIZE answers EPERM).
  private func hasEnded(_ look: ThreadLook) -> Bool {
    do { return CapturePolicy.isDead(try look.conditions().state) } catch { return error == .gone }
  }

  private func readMemory(_ request: CaptureRequest) throws(CaptureFailure) -> [UInt8] {
    let target = unsafe buffer.prefix(min(request.count, CaptureRequest.mostMemoryBytes))
    do {
      let count = try unsafe ProcessMemory(ofThread: request.threadID).read(at: request.address, into: target)
      return unsafe Array(target[..<count])
    } catch { throw CaptureFailure(error) }
  }

  private func readFile(_ path: String) throws(CaptureFailure) -> SharedFile {
    let bytes: [UInt8]
    do { bytes = try FileDescriptor.open(path).readAll(limit: CaptureHelper.mostFileBytes) } catch {
      throw CaptureFailure(error)
    }
    return try unsafe sealed(bytes.span.bytes)
  }

  private func sealed(_ bytes: RawSpan) throws(CaptureFailure) -> SharedFile {
    do { return try SealedBytes.copy(bytes) } catch { throw CaptureFailure(error) }
  }
}
