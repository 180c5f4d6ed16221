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
    let process = try WatchedProcess(processID)
    let signals: SignalDescriptor
    do throws(Errno) { signals = try SignalDescriptor([SIGINT, SIGTERM, SIGHUP, SIGUSR1]) } catch {
      throw ProgramFailure(code: .internalFailure, text: "cannot receive signals: \(error.text)")
    }
    let output = try ReportOutput(options.output, standard: STDOUT_FILENO)
    let watch = try Watch(options, process, output: output, signals: signals, meaning: Self.meaning)
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
