// From a captured thread to a stack that can be shown, as far as the analyst has come.

internal import Analysis
internal import CommandLineOptions
internal import Linux
internal import Recordings
internal import Stacks
internal import StallCore

/// A captured thread whose stack may still be in the making.
struct PendingStack {
  let thread: CapturedThread
  /// What the analyst was asked; nil if there is nothing to ask.
  let question: UInt64?
}

/// What has become of a sample.
enum SampleAnswer {
  case stack(Stack)
  /// The same functions as in the answer to that question.
  case sameAs(UInt64)
}

final class StackAnalyst {
  private let analyst: Analyst
  /// Nil: nobody is told of the kernel's part.
  private let kernelNames: KernelNames?

  init(process: Int32, maxFrames: Int, detail: SymbolDetail, tellsKernel: Bool = false) {
    kernelNames = tellsKernel && detail != .none ? try? KernelNames() : nil
    analyst = Analyst(process: process, maxFrames: maxFrames, depth: detail.depth)
  }

  /// Starts the analyst before it is needed.
  func prepare() { analyst.prepare() }

  /// Starts the process that opens files for it.
  func prepareFiles() { analyst.prepareFiles() }

  /// Lets both go while nothing is asked.
  func rest() { analyst.rest() }

  /// For poll(2): when it is readable, `proceed` has something to do.
  var rawSocket: Int32? { analyst.rawSocket }
  func proceed() { analyst.proceed() }
  var cpuTime: Duration { analyst.cpuTime }

  /// The list of mappings that a thread's process has now.
  func readMaps(of thread: Int32) -> SealedBytes? { analyst.readMaps(of: thread) }

  /// A list of mappings that the watch had no time to read is read now: here nobody else waits.
  /// `series`: of a sample, which `answer(to:within:)` is for.
  func ask(
    _ captured: CapturedThread, most depth: AnalysisDepth = .lines, series: UInt64 = 0
  ) -> PendingStack {
    let thread = withMaps(captured)
    guard case .success(let capture) = thread.result, let maps = thread.maps else {
      return PendingStack(thread: thread, question: nil)
    }
    return PendingStack(
      thread: thread, question: analyst.ask(capture, maps: maps, most: depth, series: series))
  }

  /// Nil: it is not known yet.
  func answer(to sample: PendingStack, within time: Duration) -> SampleAnswer? {
    let (stack, isFinal, first) = stackOrFirst(of: sample, within: time)
    if !isFinal { return nil }
    return first.map { .sameAs($0) } ?? .stack(stack)
  }

  /// Asks for threads that were copied together, which takes less than asking for each.
  func ask(together captured: [CapturedThread]) -> [PendingStack] {
    var maps: SealedBytes?
    let threads = captured.map {
      let thread = withMaps($0, maps)
      maps = thread.maps ?? maps
      return thread
    }
    let asked = threads.indices.filter { index in
      if case .success = threads[index].result { threads[index].maps != nil } else { false }
    }
    guard let first = asked.first, let maps = threads[first].maps,
      asked.allSatisfy({ threads[$0].maps === maps })
    else { return threads.map { ask($0) } }
    let questions = analyst.ask(together: asked.compactMap { try? threads[$0].result.get() }, maps: maps)
    let ofThread = Dictionary(uniqueKeysWithValues: zip(asked, questions))
    return threads.enumerated().map { PendingStack(thread: $1, question: ofThread[$0]) }
  }

  /// `read`: the list that was read for another thread of the same moment.
  private func withMaps(_ captured: CapturedThread, _ read: SealedBytes? = nil) -> CapturedThread {
    var thread = captured
    if case .success = thread.result {
      thread.maps = thread.maps ?? read ?? analyst.readMaps(of: thread.threadID)
    }
    return thread
  }

  /// Waits for the whole stack no longer than told; what is there by then is the answer. `isFinal`: no more will come.
  func stack(of pending: PendingStack, within time: Duration) -> (stack: Stack, isFinal: Bool) {
    let (stack, isFinal, _) = stackOrFirst(of: pending, within: time)
    return (stack, isFinal)
  }

  private func stackOrFirst(
    of pending: PendingStack, within time: Duration
  ) -> (stack: Stack, isFinal: Bool, first: UInt64?) {
    let thread = pending.thread
    if let recorded = thread.recorded { return (recorded.stack, true, nil) }
    var stack = Stack(
      threadID: thread.threadID, threadName: thread.name, role: thread.role, way: nil, stoppedFor: .zero,
      end: .notCaptured, frames: [])
    stack.kernelPart = .frames(KernelFrame.frames(of: thread.kernelStack))
    guard case .success(let capture) = thread.result else {
      if case .failure(let failure) = thread.result { stack.missing = "the thread \(failure.text)" }
      return (stack, true, nil)
    }
    if capture.way == .perf { stack.kernelPart = .addresses(capture.kernelAddresses) }
    stack.way = capture.way
    stack.stoppedFor = capture.stoppedFor
    stack.isApproximate = capture.registers[Registers.framePointer] == nil
    guard let question = pending.question, let maps = thread.maps else {
      stack.missing = "the list of its mappings could not be read"
      return (stack, true, nil)
    }
    let finding = analyst.finding(of: question, until: Clock.monotonicNanoseconds + time.nanoseconds)
    stack.missing = finding.isFinal ? finding.missing : "names and lines were not all found in time"
    if let analysis = finding.analysis {
      stack.end = analysis.end
      stack.isCompleted = analysis.isCompleted
      stack.frames = analysis.frames
    } else {
      stack.frames = [innermostFrame(of: capture, maps)]
    }
    return (stack, finding.isFinal, finding.analysis?.sameAs)
  }

  /// The stack as far as it is known by then; by default for whoever has time.
  func stack(of thread: CapturedThread, within time: Duration = .seconds(30)) -> Stack {
    lastWord(on: ask(thread), within: time)
  }

  /// The same of one that was asked for: it is forgotten then.
  func lastWord(on pending: PendingStack, within time: Duration = .seconds(30)) -> Stack {
    let (stack, isFinal) = stack(of: pending, within: time)
    if !isFinal { forget(pending) }
    return stack
  }

  /// Its answer is not wanted any more.
  func forget(_ pending: PendingStack) { if let question = pending.question { analyst.forget(question) } }

  /// Stacks for a record, with what their threads did in the kernel as far as that has a name by then.
  func namingKernel(_ stacks: [Stack], until end: Instant) -> [Stack] {
    kernelNames?.name(stacks, until: end) ?? stacks
  }

  /// What came up about modules since the last call, once per module, and about the kernel.
  func takeRemarks() -> [ByteString] {
    analyst.takeRemarks() + (kernelNames?.takeRemark().map { [$0] } ?? [])
  }

  /// All that is known of a stack that nobody has walked.
  private func innermostFrame(of capture: RawCapture, _ maps: SealedBytes) -> Frame {
    var frame = Frame(programCounter: capture.registers.programCounter, trust: .exact)
    if let region = analyst.region(at: frame.programCounter, in: maps), !region.path.isEmpty {
      frame.module = ModuleReference(
        path: ByteString(region.path), buildID: nil, isDeleted: region.isDeleted)
    }
    return frame
  }
}

extension SymbolDetail {
  fileprivate var depth: AnalysisDepth {
    switch self {
    case .none: .addresses
    case .fast: .names
    case .full: .lines
    }
  }
}
