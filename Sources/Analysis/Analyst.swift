// The report thread's end of the analyst: asks, waits no longer than it may, and starts another one when it must.

package import Linux
package import Stacks
package import StallCore

/// Owns the analyst process. A question is asked once and can be waited for several times: each time the best that is
/// known so far is the answer. The process has one question at a time, so it is known over which one it died; it is
/// replaced, and the new one is asked for less. What is asked together is asked one by one after trouble.
package final class Analyst {
  /// A question's state, for whoever asked it.
  package struct Finding: Sendable {
    /// Nil: not even the addresses are known.
    package var analysis: Analysis?
    package var isFinal: Bool
    /// What was asked for and will not come, and why.
    package var missing: String?
  }

  /// One that has not answered after this time is not computing but stuck.
  package static let usualPatience = Duration.seconds(30)
  /// What it may keep in memory between questions; beyond this the next one is asked of a new process.
  private static let mostResidentBytes: UInt64 = 160 << 20
  /// What it may take while it works.
  private static let mostWorkingBytes: UInt64 = 640 << 20
  private static let betweenChecks = Duration.milliseconds(100)
  /// After trouble, questions are asked for less until this many times the lost time has passed.
  private static let mostLostShare: Int64 = 100
  /// A try that is over so soon may be repeated: perhaps somebody else killed the process.
  private static let cheapTry = Duration.seconds(1)
  private static let mostMessageBytes = AnalystMessage.mostInlineBytes + 4096

  private let maxFrames: Int
  private let depth: AnalysisDepth
  private let patience: Duration
  private var worker: WorkerProcess
  private var broker: FileBroker
  private var questions: [UInt64: AnalystQuestion] = [:]
  private var done: [UInt64: Finding] = [:]
  private var lastID: UInt64 = 0
  /// What the process works on. Its answers may not be wanted any more.
  private var current: (ids: [UInt64], depth: AnalysisDepth, since: Int64)?
  /// What cannot be had for a while, so that what kills the process over and over costs little.
  private var trouble: (depth: AnalysisDepth, missing: String?, end: Int64)?
  private var sentMaps: SealedBytes?
  private var known = KnownStacks()
  private var rested: Duration = .zero
  private var remarks: [ByteString] = []
  private var said: Set<ByteString> = []

  package init(
    process: Int32, maxFrames: Int, depth: AnalysisDepth, patience: Duration = usualPatience,
    executable: String = "/proc/self/exe",
    arguments: [String] = [AnalystServer.hiddenArgument],
    fileHelper: consuming CaptureHelper = CaptureHelper()
  ) {
    self.maxFrames = maxFrames
    self.depth = depth
    self.patience = patience
    worker = WorkerProcess(executable: executable, arguments: arguments)
    broker = FileBroker(process: process, helper: fileHelper)
  }

  /// The process that answers now, if there is one.
  package var processID: Int32? { worker.processID }

  /// Of the processes that live now, and of those that were let go.
  package var cpuTime: Duration { rested + worker.cpuTime + broker.cpuTime }

  /// For poll(2); nil while there is no process.
  package var rawSocket: Int32? { worker.rawSocket }

  /// Starts the process before it is needed.
  package func prepare() { start() }

  /// Starts the process that opens files before it is needed.
  package func prepareFiles() { broker.prepare() }

  /// Lets the processes go while there is nothing to do; the next question starts them again.
  package func rest() {
    guard current == nil, questions.isEmpty else { return }
    rested += worker.cpuTime + broker.cpuTime
    worker.discard()
    broker.rest()
    known = KnownStacks()
  }

  /// What came up about modules since the last call.
  package func takeRemarks() -> [ByteString] {
    defer { remarks = [] }
    return remarks + broker.takeRemarks()
  }

  /// `most`: no more is asked for, even if more is usual. `series`: of a sample; see `Analysis.sameAs`.
  package func ask(
    _ capture: RawCapture, maps: SealedBytes, most: AnalysisDepth = .lines, series: UInt64 = 0
  ) -> UInt64 {
    defer { sendNext() }
    return add(AnalystQuestion(capture: capture, maps: maps, depth: min(depth, most), series: series))
  }

  /// Asks about many at once where their stack bytes lie in one file. Their frames have no stack pointers.
  package func ask(together captures: [RawCapture], maps: SealedBytes) -> [UInt64] {
    defer { sendNext() }
    let group = lastID + 1
    return captures.map { capture in
      var question = AnalystQuestion(capture: capture, maps: maps, depth: depth, group: group)
      let isKnown = known.answer(&question)
      let id = add(question)
      if isKnown { finish(id, missing: nil) }
      return id
    }
  }

  private func add(_ question: AnalystQuestion) -> UInt64 {
    lastID += 1
    questions[lastID] = question
    return lastID
  }

  /// Waits for the whole answer until the moment, and answers what is known then. A final answer is given once.
  package func finding(of id: UInt64, until end: Int64) -> Finding {
    while questions[id] != nil {
      let now = Clock.monotonicNanoseconds
      let hasNews = step(until: min(end, now + Self.betweenChecks.nanoseconds))
      check()
      // What is there is taken, but one that never stops asking for files keeps nobody.
      if now >= (hasNews ? end + Self.betweenChecks.nanoseconds : end), let question = questions[id] {
        return Finding(analysis: question.best, isFinal: false)
      }
    }
    return done.removeValue(forKey: id) ?? Finding(analysis: nil, isFinal: true)
  }

  /// The answer is not wanted any more.
  package func forget(_ id: UInt64) { (questions[id], done[id]) = (nil, nil) }

  /// Does what has come up meanwhile, without waiting.
  package func proceed() {
    let end = Clock.monotonicNanoseconds + Self.betweenChecks.nanoseconds
    while step(until: 0), Clock.monotonicNanoseconds < end {}
    check()
  }

  private func check() {
    guard let current else { return }
    let isOnlyInTheWay = !questions.isEmpty && current.ids.allSatisfy { questions[$0] == nil }
    let most = isOnlyInTheWay ? patience / 3 : patience
    if Clock.monotonicNanoseconds - current.since > most.nanoseconds {
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

  /// Gives the process the oldest question, when it has none.
  private func sendNext() {
    while current == nil, let id = questions.keys.min(), var question = questions[id] {
      guard start() else {
        finish(id, missing: "the process that finds names cannot be started")
        continue
      }
      let now = Clock.monotonicNanoseconds
      if let trouble, now < trouble.end, trouble.depth < question.depth {
        (question.depth, question.missing) = (trouble.depth, trouble.missing)
        question.group = nil
        questions[id] = question
      }
      let ids = questions.ids(askedWith: question, id)
      current = (ids, question.depth, now)
      do throws(WorkerProcess.Trouble) { try send(question, ids) } catch { giveUp("ended") }
    }
  }

  private func send(_ question: AnalystQuestion, _ ids: [UInt64]) throws(WorkerProcess.Trouble) {
    if sentMaps !== question.maps {
      try worker.send(AnalystOrder.mappingsMessage, descriptor: question.maps.rawDescriptor)
      sentMaps = question.maps
    }
    let captures = ids.compactMap { id in questions[id].map { (id, $0.capture) } }
    let order = AnalystOrder.questions(
      captures, maxFrames: maxFrames, depth: question.depth, series: question.series)
    try worker.send(order, descriptor: question.capture.rawStackDescriptor ?? -1)
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
    case .hello(let missing): if missing > 0 { remark(Self.freerThanMeant) }
    case .answer(let ids, let isFinal, let content): take(content, file, for: ids, isFinal: isFinal)
    case .answers(let all): for answer in all { take(answer.content, nil, for: answer.ids, isFinal: true) }
    case .wantsMapping(let region): give(sentMaps.flatMap { broker.file(mappedAt: region, of: $0) })
    case .wantsDebugFile(let path): give(broker.debugFile(path))
    case .wantsPerfMap: give(broker.perfMap())
    }
  }

  /// Once each.
  private func remark(_ text: ByteString) {
    if said.count < 4096, said.insert(text).inserted { remarks.append(text) }
  }

  private static let freerThanMeant: ByteString =
    "the process that names stacks could not give up all rights: this kernel lacks seccomp filters, or forbids them"

  private func give(_ file: SharedFile?) {
    do throws(WorkerProcess.Trouble) {
      try worker.send(AnalystOrder.fileMessage, descriptor: file?.rawDescriptor ?? -1)
    } catch { replace("ended") }
  }

  private func take(_ content: [UInt8], _ file: SharedFile?, for ids: [UInt64], isFinal: Bool) {
    let asked = current?.ids ?? []
    guard !ids.isEmpty, ids.allSatisfy(asked.contains) else { return replace("said nonsense") }
    var bytes = content
    if let file { bytes = (try? SealedBytes(file).bytes(limit: AnalystMessage.mostContentBytes)) ?? [] }
    guard let analysis = try? Analysis(decoding: bytes) else { return replace("said nonsense") }
    analysis.remarks.forEach(remark)
    for id in ids { questions[id]?.best = analysis }
    guard isFinal else { return }
    for id in ids {
      known.add(analysis, size: bytes.count, to: questions[id], askedAt: current?.since ?? 0)
      finish(id, missing: questions[id]?.missing)
    }
    current?.ids.removeAll(where: ids.contains)
    guard current?.ids.isEmpty ?? true else { return }
    current = nil
    if isLarger(than: Self.mostResidentBytes) { worker.discard() }
    sendNext()
  }

  private func finish(_ id: UInt64, missing: String?) {
    guard let question = questions.removeValue(forKey: id) else { return }
    done[id] = Finding(analysis: question.best, isFinal: true, missing: missing)
  }

  /// Another analyst. The other questions are asked as they are.
  private func replace(_ what: String) {
    worker.discard()
    giveUp(what)
    sendNext()
  }

  /// What cost little is asked once more as it was, and else for less: what killed two would kill the next.
  private func giveUp(_ what: String) {
    guard let current else { return }
    self.current = nil
    if current.ids.count > 1 {
      for id in current.ids { questions[id]?.group = nil }
      return
    }
    guard let id = current.ids.first else { return }
    let now = Clock.monotonicNanoseconds
    // No more than its patience: we may have been stopped ourselves.
    let lost = min(now - current.since, patience.nanoseconds)
    let isLasting = lost > Self.cheapTry.nanoseconds || questions[id]?.isSecondTry ?? true
    if isLasting {
      let missing = "the process that finds \(current.depth.lost) \(what)"
      trouble = (current.depth.less, missing, now + lost * Self.mostLostShare)
    }
    guard var question = questions[id] else { return }
    if isLasting, let trouble { (question.depth, question.missing) = (trouble.depth, trouble.missing) }
    question.isSecondTry = true
    questions[id] = question
    if isLasting && current.depth == .addresses || question.isAnswered {
      finish(id, missing: question.missing)
    }
  }

  private func isLarger(than most: UInt64) -> Bool {
    processID.flatMap { try? MemorySize(process: $0) }.map { $0.residentBytes > most } ?? false
  }
}
