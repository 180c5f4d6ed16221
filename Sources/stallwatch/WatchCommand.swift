// `stallwatch --pid`: watch a running process.

internal import CommandLineOptions
internal import Glibc
internal import Linux
internal import Reports
internal import StallCore

struct WatchCommand {
  private let options: Options
  private let processID: Int32

  init(_ options: Options, _ processID: Int32) {
    self.options = options
    self.processID = processID
  }

  func run() throws(ProgramFailure) -> ExitCode {
    let process = try WatchedProcess(processID, thread: options.thread ?? .main, cpuOnly: options.cpuOnly)
    let writesFile = if case .file = options.output { true } else { false }
    // The end of a terminal ends the watch that writes to it, unless nohup(1) was used.
    let hangups = writesFile || !OwnProcess.ignores(SIGHUP) ? [SIGHUP] : []
    let signals: SignalDescriptor
    do throws(Errno) { signals = try SignalDescriptor([SIGINT, SIGTERM, SIGUSR1] + hangups) } catch {
      throw ProgramFailure(code: .internalFailure, text: "cannot receive signals: \(error.text)")
    }
    let output = try ReportOutput(options.output, standard: STDOUT_FILENO)
    let watch = try Watch(options, process, output: output, signals: signals) {
      $0.number == SIGHUP && !writesFile ? .end : Self.meaning($0)
    }
    _ = watch.run { .unknown }
    return options.failOnStall && watch.hasVerifiedStalls ? .stallsSeen : .success
  }

  /// The first request to end is kept in order; the second takes effect at once (see `WatchLoop.waitForReports`).
  private static func meaning(_ signal: ReceivedSignal) -> SignalMeaning {
    switch signal.number {
    case SIGINT, SIGTERM: .end
    case SIGHUP: .reopenOutput
    case SIGUSR1: .dump
    default: .nothing
    }
  }
}
