// `stallwatch dump`: the stack of every thread, now.

internal import CommandLineOptions
internal import Glibc
internal import Linux
internal import Reports
internal import Stacks
internal import StallCore

struct DumpCommand {
  private let options: Options

  init(_ options: Options) { self.options = options }

  /// Threads are captured, named and written a few at a time, so that ten thousand of them need no more room than those.
  func run() throws(ProgramFailure) -> ExitCode {
    if options.neverStop { OwnProcess.giveWay() }
    let process = try WatchedProcess(try processID(), thread: options.thread ?? .main)
    let output = try ReportOutput(options.output, standard: STDOUT_FILENO)
    let camera = ThreadCamera(try open(process), mayStop: !options.neverStop, isForDump: true)
    // Each of our processes takes milliseconds to start, so all do at once; what fails is told by the first question.
    try? camera.prepare()
    let reporter = DumpReporter(Reporter(options, .of(process), output: output, rules: .none))
    if let program = ObserverWay(process.id, options).program { camera.use(program) }
    let began = Instant(nanoseconds: Clock.monotonicNanoseconds)
    let first = try captureOrRefuse(process, camera)
    if isDumpingCore(process) {
      reporter.write(
        .notice(
          NoticeRecord(
            .captureFailed, "\(process.name.escaped) crashed and is dumping core: none of it is stopped")))
    }
    var dump = ThreadDump(process: process.id, only: options.thread ?? .all, most: .max)
    dump.take(camera, first: first) { reporter.write(.dumpedThreads($0)) }
    if dump.threads == 0, case .named(let pattern) = options.thread {
      throw Refusal.noThreadNamed(pattern, of: process.id, process.name)
    }
    if dump.threads == 0 { throw Refusal.noProcess(process.id) }
    let took = Instant(nanoseconds: Clock.monotonicNanoseconds) - began
    reporter.write(.dumpDone(dump.summary(took: took, stopped: camera.targetStopped)))
    return reporter.hasFailed
      ? .internalFailure : dump.hasThreadsWithoutStack ? .threadWithoutStack : .success
  }

  /// Where a thread shows its stack all the same, nothing else tells.
  private func isDumpingCore(_ process: WatchedProcess) -> Bool {
    let thread = process.thread.threadID
    guard let text = try? readPseudoFile("/proc/\(process.id)/task/\(thread)/status") else { return false }
    return ProcessStatus(text.span).isDumpingCore
  }

  private func processID() throws(ProgramFailure) -> Int32 {
    switch options.target {
    case .process(let id): return id
    case .named(let name): return try ProcessSearch(name: name).only(for: .dump)
    case .program, .recording: throw ProgramFailure(code: .wrongUsage, text: "no process was named")
    }
  }

  private func open(_ process: WatchedProcess) throws(ProgramFailure) -> ProcessHandle {
    do throws(Errno) { return try process.open() } catch {
      throw error.meansTaskGone ? Refusal.noProcess(process.id) : Refusal.notPermitted(process.id, error)
    }
  }

  /// Not one stack, because we may not: that is one refusal, not many threads without a stack.
  private func captureOrRefuse(
    _ process: WatchedProcess, _ camera: ThreadCamera
  ) throws(ProgramFailure) -> CapturedThread {
    let first = camera.capture(process.thread.threadID, role: process.thread.role, isDump: true)
    if let error = camera.refusal, error.meansNotAllowed {
      throw Refusal.notPermitted(process.id, error, command: .dump)
    }
    return first
  }
}

/// A reporter without a thread of its own; a reader that goes away ends the writing, not the dump.
private final class DumpReporter {
  private var reporter: Reporter
  private(set) var hasFailed = false
  private var isReaderGone = false

  init(_ reporter: consuming Reporter) {
    reporter.prepareForDump()
    self.reporter = reporter
  }

  func write(_ item: ReportItem) {
    if isReaderGone { return }
    do throws(ReportOutput.Failure) { try reporter.report(item, at: .now) } catch {
      switch error {
      case .readerGone: isReaderGone = true
      case .cannotWrite(let why):
        Program.complain("cannot write the dump: \(why)")
        hasFailed = true
      case .stillCannotWrite: break
      }
    }
  }
}
