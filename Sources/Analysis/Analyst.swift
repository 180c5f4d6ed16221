// The report thread's end of the analyst: asks, waits no longer than it may, and starts another one when it must.

package import Linux
package import Stacks
package import StallCore

/// Owns the analyst process. A question is asked once and can be waited for several times: each time the best that is
/// known so far is the answer. An analyst that dies over a question is replaced, and the new one is asked for less.
package final class Analyst {
  /// A question's state, for whoever asked it.
  package struct Finding: Sendable {
    /// Nil: not even the addresses are known.
    package var analysis: Analysis?
    package var isFinal: Bool
    /// What was asked for and will not come, and why.
    package var missing: String?
  }

  fileprivate struct Question {
    let capture: RawCapture
    let maps: SealedBytes
    let askedAt: Int64
    var depth: AnalysisDepth
    var isSecondTry = false
    var best: Analysis?
    var missing: String?
  }

  /// One that has not answered after this time is not computing but stuck.
  private static let patience = Duration.seconds(30)
  /// What it may keep in memory between questions; beyond this the next one is asked of a new process.
  private static let mostResidentBytes: UInt64 = 160 << 20
  /// What it may take while it works.
  private static let mostWorkingBytes: UInt64 = 640 << 20
  private static let betweenChecks = Duration.milliseconds(100)
  private static let mostMessageBytes = AnalystMessage.mostInlineBytes + 4096

  private let maxFrames: Int
  private let depth: AnalysisDepth
  private var worker: WorkerProcess
  private var broker: FileBroker
  private var questions: [UInt64: Question] = [:]
  private var done: [UInt64: Finding] = [:]
  private var lastID: UInt64 = 0
  private var sentMaps: SealedBytes?
  private var remarks: [ByteString] = []
  private var said: Set<ByteString> = []
  private var missingLimits = 0

  package init(
    process: Int32, maxFrames: Int, depth: AnalysisDepth, executable: String = "/proc/self/exe",
    arguments: [String] = [AnalystServer.hiddenArgument],
    fileHelper: consuming CaptureHelper = CaptureHelper()
  ) {
    self.maxFrames = maxFrames
    self.depth = depth
    worker = WorkerProcess(executable: executable, arguments: arguments)
    broker = FileBroker(process: process, helper: fileHelper)
  }

  /// The process that answers now, if there is one.
  package var processID: Int32? { worker.processID }

  /// Of the processes that live now.
  package var cpuTime: Duration { worker.cpuTime + broker.cpuTime }

  /// For poll(2); nil while there is no process.
  package var rawSocket: Int32? { worker.rawSocket }

  /// Starts the process before it is needed.
  package func prepare() { start() }

  /// What came up about modules since the last call.
  package func takeRemarks() -> [ByteString] {
    defer { remarks = [] }
    return remarks + broker.takeRemarks()
  }

  package func ask(_ capture: RawCapture, maps: SealedBytes) -> UInt64 {
    lastID += 1
    questions[lastID] = Question(
      capture: capture, maps: maps, askedAt: Clock.monotonicNanoseconds, depth: depth)
    send(lastID)
    return lastID
  }

  /// Waits for the whole answer until the moment, and answers what is known then. A final answer is given once.
  package func finding(of id: UInt64, until end: Int64) -> Finding {
    while let question = questions[id] {
      let now = Clock.monotonicNanoseconds
      if step(until: min(end, now + Self.betweenChecks.nanoseconds)) { continue }
      if now >= end { return Finding(analysis: question.best, isFinal: false) }
      check()
    }
    return done.removeValue(forKey: id) ?? Finding(analysis: nil, isFinal: true)
  }

  /// The answer is not wanted any more.
  package func forget(_ id: UInt64) {
    questions[id] = nil
    done[id] = nil
  }

  /// Does what has come up meanwhile, without waiting.
  package func proceed() {
    while step(until: 0) {}
    check()
  }

  private func check() {
    let now = Clock.monotonicNanoseconds
    if questions.values.contains(where: { now - $0.askedAt > Self.patience.nanoseconds }) {
      replace("took too long")
    } else if isLarger(than: Self.mostWorkingBytes) {
      replace("took too much memory")
    }
  }

  /// The list of mappings that a thread's process has now; nil if it cannot be had in two seconds.
  package func readMaps(of thread: Int32) -> SealedBytes? { broker.readMaps(of: thread) }

  /// The region of a question's mappings that an address lies in, for an answer without an analyst.
  package func region(at address: UInt64, in maps: SealedBytes) -> MemoryRegion? {
    broker.region(at: address, in: maps)
  }
}

extension Analyst {
  @discardableResult private func start() -> Bool {
    do throws(WorkerProcess.Trouble) {
      if try worker.prepare() { sentMaps = nil }
      return true
    } catch { return false }
  }

  private func send(_ id: UInt64) {
    guard let question = questions[id] else { return }
    guard start() else { return finish(id, missing: "the process that finds names cannot be started") }
    do throws(WorkerProcess.Trouble) {
      if sentMaps !== question.maps {
        try worker.send(AnalystOrder.mappingsMessage, descriptor: question.maps.rawDescriptor)
        sentMaps = question.maps
      }
      var order: MessageWriter = AnalystOrder.question(id: id, maxFrames: maxFrames, depth: question.depth)
      question.capture.encode(into: &order)
      try worker.send(order.bytes, descriptor: question.capture.rawStackDescriptor ?? -1)
    } catch { replace("ended") }
  }

  /// Handles one message; false if none came until the moment.
  private func step(until end: Int64) -> Bool {
    guard worker.processID != nil, (try? worker.isReadable(until: end)) == true else { return false }
    do {
      let message = try worker.receive(capacity: Self.mostMessageBytes, until: end)
      let meaning = try AnalystMessage(decoding: message.bytes)
      handle(meaning, message.takeFile())
    } catch { replace("ended") }
    return true
  }

  private func handle(_ message: AnalystMessage, _ file: SharedFile?) {
    switch message {
    case .hello(let missing): missingLimits = missing
    case .answer(let id, let isFinal, let content): take(content, file, for: id, isFinal: isFinal)
    case .wantsMapping(let region): give(sentMaps.flatMap { broker.file(mappedAt: region, of: $0) })
    case .wantsDebugFile(let path): give(broker.debugFile(path))
    case .wantsPerfMap: give(broker.perfMap())
    }
  }

  private func give(_ file: SharedFile?) {
    do throws(WorkerProcess.Trouble) {
      try worker.send(AnalystOrder.fileMessage, descriptor: file?.rawDescriptor ?? -1)
    } catch { replace("ended") }
  }

  private func take(_ content: [UInt8], _ file: SharedFile?, for id: UInt64, isFinal: Bool) {
    guard questions[id] != nil else { return }
    var bytes = content
    if let file { bytes = (try? SealedBytes(file).bytes(limit: AnalystMessage.mostContentBytes)) ?? [] }
    guard let analysis = try? Analysis(decoding: bytes) else { return replace("said nonsense") }
    for remark in analysis.remarks where said.count < 4096 && said.insert(remark).inserted {
      remarks.append(remark)
    }
    questions[id]?.best = analysis
    guard isFinal else { return }
    finish(id, missing: questions[id]?.missing)
    if questions.isEmpty, isLarger(than: Self.mostResidentBytes) { worker.discard() }
  }

  private func finish(_ id: UInt64, missing: String?) {
    guard let question = questions.removeValue(forKey: id) else { return }
    done[id] = Finding(analysis: question.best, isFinal: true, missing: missing)
  }

  /// Another analyst. Each question is asked once more as it was, and then for less: what killed two would kill the next.
  private func replace(_ what: String) {
    worker.discard()
    sentMaps = nil
    for id in questions.keys.sorted() {
      guard let question = questions[id] else { continue }
      if question.isSecondTry { questions[id]?.lower(what) }
      questions[id]?.isSecondTry = true
      let isHopeless = question.isSecondTry && question.depth == .addresses
      if isHopeless || questions[id]?.isAnswered == true {
        finish(id, missing: questions[id]?.missing ?? "the process that walks stacks \(what)")
      } else {
        send(id)
      }
    }
  }

  private func isLarger(than most: UInt64) -> Bool {
    guard let processID, let resident = try? residentBytes(of: processID) else { return false }
    return resident > most
  }
}

extension Analyst.Question {
  mutating func lower(_ what: String) {
    missing = "the process that finds \(depth.lost) \(what)"
    depth = AnalysisDepth(rawValue: depth.rawValue - 1) ?? .addresses
  }

  /// The addresses are known, and no more is asked for.
  var isAnswered: Bool { depth == .addresses && best != nil && missing != nil }
}

extension AnalysisDepth {
  /// What does not come where this depth was not reached.
  fileprivate var lost: String {
    switch self {
    case .addresses, .names: "names"
    case .lines: "lines"
    }
  }
}
