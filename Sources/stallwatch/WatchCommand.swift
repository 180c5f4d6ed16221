// `stallwatch --pid` and `--name`: watch a running process, with `--wait` one after the other.

internal import CommandLineOptions
internal import Glibc
internal import Linux
internal import Reports
internal import StallCore

struct WatchCommand: ~Copyable {
  private let options: Options
  private let rules: LoopRules
  private let writesFile: Bool
  private let received: [Int32]
  private let endsAt: Instant?
  /// Over all processes, so that the reader of a pipe does not take the end of one for the end.
  private var heldOutput: ReportOutput?
  private var generation = 1
  private var stalls = 0
  private var hasVerifiedStalls = false

  init(_ options: Options, _ rules: LoopRules) {
    self.options = options
    self.rules = rules
    writesFile = if case .file = options.output { true } else { false }
    // The end of a terminal ends the watch that writes to it, unless nohup(1) was used.
    let hangups = writesFile || !OwnProcess.ignores(SIGHUP) ? [SIGHUP] : []
    received = [SIGINT, SIGTERM, SIGUSR1, SIGCONT] + hangups
    endsAt = options.duration.map { Instant(nanoseconds: Clock.monotonicNanoseconds) + $0 }
  }

  /// Each process of the name is a watch of its own, with a summary of its own.
  mutating func run() throws(ProgramFailure) -> ExitCode {
    if options.wait { heldOutput = try ReportOutput(options.output, standard: STDOUT_FILENO) }
    var end: WatchEnd
    repeat {
      let signals = try openSignals()
      guard let id = try nextProcess(signals) else { break }
      end = try watch(id, signals) ?? .targetEnded
      ChildProcess.reapKilled()
    } while options.wait && end == .targetEnded
    return options.failOnStall && hasVerifiedStalls ? .stallsSeen : .success
  }

  private func openSignals() throws(ProgramFailure) -> SignalDescriptor {
    do throws(Errno) { return try SignalDescriptor(received) } catch {
      throw ProgramFailure(code: .internalFailure, text: "cannot receive signals: \(error.text)")
    }
  }

  /// Nil: while we waited, we were asked to end, or the time was over.
  private func nextProcess(_ signals: borrowing SignalDescriptor) throws(ProgramFailure) -> Int32? {
    switch options.target {
    case .process(let id): return id
    case .program, .recording: return nil
    case .named(let name):
      let search = ProcessSearch(name: name)
      if !options.wait { return try search.only(for: options.command) }
      if generation == 1, !search.all().isEmpty { return try search.only(for: options.command) }
      if options.verbosity != .quiet {
        Program.remark("waiting for a process named \(ByteString(name).escaped)")
      }
      return NameWait(search).next(until: endsAt, signals) {
        if case .end = Self.meaning($0, writesFile: writesFile) { true } else { false }
      }
    }
  }

  /// Nil: it was gone before it could be looked at.
  private mutating func watch(
    _ id: Int32, _ signals: consuming SignalDescriptor
  ) throws(ProgramFailure) -> WatchEnd? {
    var rest = options
    rest.duration = endsAt.map { max(.nanoseconds(1), $0 - Instant(nanoseconds: Clock.monotonicNanoseconds)) }
    rest.count = options.count.map { $0 - stalls }
    let writesFile = self.writesFile
    do throws(ProgramFailure) {
      var process = try WatchedProcess(id, thread: options.thread ?? .main, cpuOnly: options.cpuOnly)
      process.generation = generation
      let output = try ReportOutput(options.output, standard: STDOUT_FILENO, keepsContents: options.wait)
      let watch = try Watch(rest, process, rules, output: output, signals: signals) {
        Self.meaning($0, writesFile: writesFile)
      }
      let end = watch.run { (.unknown, nil) }
      generation += 1
      stalls += watch.stalls
      hasVerifiedStalls = hasVerifiedStalls || watch.hasVerifiedStalls
      return end
    } catch {
      if options.wait, error.code == .noSuchProcess { return nil }
      throw error
    }
  }

  /// The first request to end is kept in order; the second takes effect at once (see `WatchLoop.waitForReports`).
  private static func meaning(_ signal: ReceivedSignal, writesFile: Bool) -> SignalMeaning {
    switch signal.number {
    case SIGINT, SIGTERM: .end
    case SIGHUP: writesFile ? .reopenOutput : .end
    case SIGUSR1: .dump
    default: .nothing
    }
  }
}
