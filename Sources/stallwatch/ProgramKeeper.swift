// What `run` does for the program beside watching it: passing signals on, stopping along with it, its time limit.

internal import CommandLineOptions
internal import Glibc
internal import Linux
internal import Reports
internal import StallCore

final class ProgramKeeper {
  let program: StartedProgram
  let requests = ProgramRequests()
  private let name: String
  private let timeout: Duration?
  private var isOverTime = false

  /// Those that a person or a supervisor sends to a job. What the terminal sends reaches the child by itself, since it
  /// shares our process group; what another process sends to us is meant for it.
  private static let passedOn = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCONT, SIGTSTP]
  /// Those that ask to end.
  private static let ending = [SIGHUP, SIGINT, SIGQUIT, SIGTERM]
  /// Given to a program that was asked to end, before a word is said about it.
  private static let grace = Duration.seconds(10)

  static func received(_ options: Options) -> [Int32] {
    passedOn + [SIGTTIN, SIGTTOU, SIGCHLD] + (options.timeout == nil ? [] : [SIGALRM])
  }

  init(_ program: StartedProgram, name: String, timeout: Duration?) {
    self.program = program
    self.name = name
    self.timeout = timeout
    if let timeout { StartedProgram.setAlarm(after: timeout) }
  }

  func meaning(of signal: ReceivedSignal) -> SignalMeaning {
    if signal.number == SIGCHLD {
      stopAlong()
      if getpid() == 1 { ChildProcess.reapOrphans(except: program.id) }
    } else if program.hasEnded {
      return Self.ending.contains(signal.number) ? .endOnceOver : .nothing
    } else if signal.number == SIGALRM, !signal.isFromProcess {
      return timeIsUp()
    } else if isMeantForProgram(signal) {
      requests.note(signal.number)
      let pass = { [program] in program.send(signal.number) }
      if Self.ending.contains(signal.number) { return .captureThen(pass) }
      pass()
    } else if !signal.isFromProcess {
      requests.note(signal.number)
    }
    return .nothing
  }

  /// The kernel tells only the leader of the session that its terminal has gone, and we stand where the program would.
  private func isMeantForProgram(_ signal: ReceivedSignal) -> Bool {
    if signal.isFromProcess { return signal.sender != program.id && Self.passedOn.contains(signal.number) }
    return signal.number == SIGHUP && getsid(0) == getpid()
  }

  /// A program that was stopped gets the request only when it goes on.
  private func timeIsUp() -> SignalMeaning {
    let spoken = "\(name) (pid \(program.id))"
    guard !isOverTime else {
      return .tell(
        "\(spoken) has not ended since SIGTERM, \(Self.grace.spoken) ago; kill -KILL \(program.id) ends it")
    }
    isOverTime = true
    let limit = timeout?.spoken ?? ""
    return .dumpThen("\(spoken) has run for \(limit), its --timeout: sending SIGTERM") {
      [program, requests] in
      requests.note(SIGTERM)
      program.send(SIGTERM)
      program.send(SIGCONT)
      StartedProgram.setAlarm(after: Self.grace)
    }
  }

  /// When the terminal stops the job, the shell waits for us to stop. Nobody would wake us from other stops.
  private func stopAlong() {
    guard let signal = program.takeStop() else { return }
    requests.noteStop()
    guard [SIGTSTP, SIGTTIN, SIGTTOU].contains(signal) else { return }
    guard getsid(0) != getpid(), tcgetpgrp(STDERR_FILENO) >= 0 || tcgetpgrp(STDIN_FILENO) >= 0 else { return }
    kill(getpid(), SIGSTOP)
    program.send(SIGCONT)
  }

  /// Without a watch, signals are passed on all the same.
  func keepUnwatched(_ options: Options) {
    guard let handle = try? ProcessHandle(program.id),
      let signals = try? SignalDescriptor(Self.received(options))
    else { return }
    var poll = PollSet([handle.rawValue, signals.rawValue])
    while !poll.isReady(0) {
      guard (try? poll.wait()) != nil else { return }
      while let signal = signals.next() {
        switch meaning(of: signal) {
        case .captureThen(let act): act()
        case .dumpThen(let text, let act):
          Program.complain(text)
          act()
        case .tell(let text): Program.complain(text)
        case .nothing, .end, .endOnceOver, .dump, .reopenOutput: break
        }
      }
    }
  }
}
