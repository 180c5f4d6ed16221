// The watch's end of the helper process: every question has a deadline, and a helper that misses it is replaced.

package import Linux
internal import StallCore

/// Owns the helper process. Each question blocks its caller for no longer than the deadline. After a failure of the
/// helper itself (killed, late, talking nonsense) the next question goes to a new one.
package struct CaptureHelper: ~Copyable {
  /// The bytes copied from the stack pointer upwards unless more is asked for.
  package static let usualStackBytes = 65_536
  package static let mostFileBytes = 16 << 20
  /// What a start may take on a busy machine; counts only for the first question to a new helper.
  private static let startAllowance = Duration.seconds(2)

  /// What makes the program a helper instead.
  package static let hiddenArgument = "capture-helper"

  private var worker: WorkerProcess
  private var hasStarted = false
  var knownMaps: KnownMaps?
  private(set) var lastID = CaptureReply.helloID

  /// `executable` is the program that answers.
  package init(executable: String, arguments: [String]) {
    worker = WorkerProcess(executable: executable, arguments: arguments)
  }

  /// Ourselves, told so by a hidden argument.
  package init() {
    worker = WorkerProcess(executable: "/proc/self/exe", arguments: [Self.hiddenArgument]) {
      CaptureServer.run(socket: WorkerProcess.socketInChild)
    }
  }

  /// The process that answers now, if there is one.
  package var processID: Int32? { worker.processID }
  package var cpuTime: Duration { worker.cpuTime }

  /// Starts the helper if there is none, so that the first question need not wait for it.
  package mutating func prepare() throws(CaptureFailure) {
    do { if try worker.prepare() { hasStarted = false } } catch { throw CaptureFailure(error) }
  }

  /// Lets the process go; the next question starts another one.
  package mutating func rest() { worker.discard() }

  /// Whether a question would be answered now. Starts the helper if need be, and does not wait for it.
  package mutating func isReady() -> Bool {
    guard (try? prepare()) != nil else { return false }
    if !hasStarted, (try? worker.isReadable(until: 0)) == true,
      let answer = try? receive(until: Clock.monotonicNanoseconds), answer.reply.id == CaptureReply.helloID
    {
      hasStarted = true
    }
    return hasStarted
  }

  /// Copies registers and stack of one thread by the best way that does no harm. With `blocked`, its stack alone, and only
  /// if it has not moved since: fails with `moved` else.
  package mutating func capture(
    processID: Int32, threadID: Int32, rules: CaptureRules, blocked: BlockedRegisters? = nil,
    stackBytes: Int = usualStackBytes, deadline: Duration = .milliseconds(20)
  ) throws(CaptureFailure) -> RawCapture {
    var request = CaptureRequest(kind: .thread, processID: processID, threadID: threadID)
    request.blocked = blocked
    request.rules = rules
    request.count = stackBytes
    request.patience = deadline.nanoseconds
    let answer = try ask(request, deadline)
    return RawCapture(threadID: threadID, reply: answer.reply, stack: answer.file.map(SealedBytes.init))
  }

  /// Copies at most 8 KB; fewer bytes where the memory ends.
  package mutating func readMemory(
    ofThread threadID: Int32, at address: UInt64, count: Int, deadline: Duration = .milliseconds(20)
  ) throws(CaptureFailure) -> [UInt8] {
    var request = CaptureRequest(kind: .memory, processID: threadID, threadID: threadID)
    request.address = address
    request.count = count
    return try ask(request, deadline).reply.bytes
  }

  /// The arguments of the process, each ended by a zero byte, unread.
  package mutating func readCommandLine(
    processID: Int32, deadline: Duration = .milliseconds(200)
  ) throws(CaptureFailure) -> SealedBytes {
    try askForFile(CaptureRequest(kind: .commandLine, processID: processID, threadID: processID), deadline)
  }

  private mutating func askForFile(
    _ request: CaptureRequest, _ deadline: Duration
  ) throws(CaptureFailure) -> SealedBytes {
    guard let file = try ask(request, deadline).file else { throw .malformedReply }
    return SealedBytes(file)
  }

  struct Answer {
    var reply: CaptureReply
    /// Stack bytes and texts, or a file that was opened.
    var file: SharedFile?
  }

  mutating func ask(_ question: CaptureRequest, _ deadline: Duration) throws(CaptureFailure) -> Answer {
    lastID &+= 1
    var request = question
    request.id = lastID
    try send(request.encoded())
    let allowance = hasStarted ? .zero : CaptureHelper.startAllowance
    var end = Clock.monotonicNanoseconds &+ (deadline + allowance).nanoseconds
    while true {
      let answer = try receive(until: end)
      switch answer.reply.id {
      case CaptureReply.helloID:
        hasStarted = true
        end = Clock.monotonicNanoseconds &+ deadline.nanoseconds
      case request.id:
        if answer.reply.isLast { worker.discard() }
        if let failure = answer.reply.failure { throw failure }
        return answer
      default: break
      }
    }
  }

  /// A helper that ended since the last question is noticed here, and replaced once.
  private mutating func send(_ bytes: [UInt8]) throws(CaptureFailure) {
    try prepare()
    do { try worker.send(bytes) } catch {
      try prepare()
      do { try worker.send(bytes) } catch { throw CaptureFailure(error) }
    }
  }

  private mutating func receive(until end: Int64) throws(CaptureFailure) -> Answer {
    let message: ReceivedMessage
    do { message = try worker.receive(capacity: CaptureReply.mostBytes, until: end) } catch {
      throw CaptureFailure(error)
    }
    guard let reply = CaptureReply(decoding: message.bytes) else {
      worker.discard()
      throw .malformedReply
    }
    return Answer(reply: reply, file: message.takeFile())
  }
}

extension CaptureFailure {
  fileprivate init(_ trouble: WorkerProcess.Trouble) {
    switch trouble {
    case .cannotStart(let error): self = .helperUnavailable(error)
    case .died: self = .helperDied
    case .late: self = .timedOut
    }
  }
}
