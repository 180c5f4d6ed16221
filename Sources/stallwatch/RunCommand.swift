// `stallwatch run`: start a program, watch it, and end as it ends.

internal import CommandLineOptions
internal import Glibc
internal import Linux
internal import Reports
internal import StallCore

struct RunCommand {
  private let options: Options
  private let arguments: [ByteString]

  /// Those that a person or a supervisor sends to a job. What the terminal sends reaches the child by itself, since it
  /// shares our process group; what another process sends to us is meant for it.
  private static let passedOn = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCONT, SIGTSTP]
  /// Those that ask to end.
  private static let ending = [SIGHUP, SIGINT, SIGQUIT, SIGTERM]
  private static let received = passedOn + [SIGTTIN, SIGTTOU, SIGCHLD]

  init(_ options: Options, _ arguments: [ByteString]) {
    self.options = options
    self.arguments = arguments
  }

  /// Trouble of our own never keeps the program from running, nor changes its status.
  func run() throws(ProgramFailure) -> Outcome {
    let signals: SignalDescriptor
    do throws(Errno) { signals = try SignalDescriptor(Self.received) } catch {
      throw ProgramFailure(code: .runFailed, text: "cannot receive signals: \(error.text)")
    }
    let output = try openOutput()
    let program = try start()
    let handleSignal = { (signal: ReceivedSignal) in Self.handle(signal, for: program) }
    let watched = watch(program, output, signals, handleSignal)
    let end = watched.end ?? program.waitForEnd()
    return outcome(end, hasStalls: watched.hasStalls)
  }

  private func openOutput() throws(ProgramFailure) -> ReportOutput {
    do throws(ProgramFailure) {
      return try ReportOutput(options.output, standard: STDERR_FILENO, holdsWhileRaw: true)
    } catch {
      throw ProgramFailure(code: .runFailed, text: error.text, next: error.next)
    }
  }

  private func start() throws(ProgramFailure) -> StartedProgram {
    do throws(Errno) {
      return try StartedProgram(
        arguments.map(\.bytes), unblocked: Self.received,
        defaults: OwnStart.inheritedIgnoredPipe ? [] : [SIGPIPE])
    } catch {
      let name = arguments.first?.escaped ?? ""
      let isMissing = error == .noSuchFile
      throw ProgramFailure(
        code: isMissing ? .commandNotFound : .cannotExecute, text: "cannot start \(name): \(error.text)",
        next: isMissing ? "a path such as ./\(name), or a command that is in PATH" : nil)
    }
  }

  private func watch(
    _ program: StartedProgram, _ output: consuming ReportOutput, _ signals: consuming SignalDescriptor,
    _ handleSignal: @escaping (ReceivedSignal) -> SignalMeaning
  ) -> (end: ExitStatus?, hasStalls: Bool) {
    do throws(ProgramFailure) {
      let process = try WatchedProcess(program.id)
      let watch = try Watch(options, process, output: output, signals: signals, meaning: handleSignal)
      var end: ExitStatus?
      let reason = watch.run {
        end = program.waitForEnd()
        return ProcessEnd(end)
      }
      if reason != .targetEnded { watch.waitForTarget() }
      return (end, watch.hasVerifiedStalls)
    } catch {
      // A program that is over before it could be looked at was not worth a word.
      if error.code != .noSuchProcess { Program.complain("\(error.text); it runs on unwatched") }
      return (nil, false)
    }
  }

  private func outcome(_ end: ExitStatus?, hasStalls: Bool) -> Outcome {
    guard let end else {
      Program.complain("how the program ended is not known: somebody else has waited for it")
      return .status(.runFailed)
    }
    if end == .exited(0), options.failOnStall, hasStalls { return .status(.stallsSeen) }
    return .child(end)
  }

  private static func handle(_ signal: ReceivedSignal, for program: StartedProgram) -> SignalMeaning {
    if signal.number == SIGCHLD {
      stopAlong(with: program)
      if getpid() == 1 { ChildProcess.reapOrphans(except: program.id) }
    } else if program.hasEnded {
      return ending.contains(signal.number) ? .endOnceOver : .nothing
    } else if signal.isFromProcess, signal.sender != program.id, passedOn.contains(signal.number) {
      program.send(signal.number)
    }
    return .nothing
  }

  /// When the terminal stops the job, the shell waits for us to stop. Nobody would wake us from other stops.
  private static func stopAlong(with program: StartedProgram) {
    guard let signal = program.takeStop(), [SIGTSTP, SIGTTIN, SIGTTOU].contains(signal) else { return }
    guard getsid(0) != getpid(), tcgetpgrp(STDERR_FILENO) >= 0 || tcgetpgrp(STDIN_FILENO) >= 0 else { return }
    kill(getpid(), SIGSTOP)
    program.send(SIGCONT)
  }
}

extension ProcessEnd {
  init(_ status: ExitStatus?) {
    switch status {
    case nil: self = .unknown
    case .exited(let code): self = .exited(status: code)
    case .signaled(let signal): self = .signalled(signal)
    }
  }
}
