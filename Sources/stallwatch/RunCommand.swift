// `stallwatch run`: start a program, watch it, and end as it ends.

internal import CommandLineOptions
internal import Glibc
internal import Linux
internal import Reports
internal import StallCore

struct RunCommand {
  private let options: Options
  private let rules: LoopRules
  private let arguments: [ByteString]

  init(_ options: Options, _ rules: LoopRules) {
    self.options = options
    self.rules = rules
    arguments = if case .program(let words) = options.target { words } else { [] }
  }

  /// Trouble of our own never keeps the program from running, nor changes its status.
  func run() throws(ProgramFailure) -> Outcome {
    let signals: SignalDescriptor
    do throws(Errno) { signals = try SignalDescriptor(ProgramKeeper.received(options)) } catch {
      throw ProgramFailure(code: .runFailed, text: "cannot receive signals: \(error.text)")
    }
    let user = try account()
    let output = try openOutput()
    let keeper = ProgramKeeper(try start(as: user), name: name, timeout: options.timeout)
    let watched = watch(keeper, output, signals)
    if watched.end == nil { keeper.keepUnwatched(options) }
    let end = watched.end ?? keeper.program.waitForEnd()
    return outcome(end, hasStalls: watched.hasStalls)
  }

  private var name: String { arguments.first?.escaped ?? "" }

  private func account() throws(ProgramFailure) -> UserAccount? {
    guard let name = options.user else { return nil }
    guard let account = UserAccount(name: name) else {
      throw ProgramFailure(
        code: .runFailed, text: "there is no user \(ByteString(name).escaped)",
        next: "`getent passwd` lists them")
    }
    return account
  }

  private func openOutput() throws(ProgramFailure) -> ReportOutput {
    do throws(ProgramFailure) {
      return try ReportOutput(options.output, standard: STDERR_FILENO, holdsWhileRaw: true)
    } catch {
      throw ProgramFailure(code: .runFailed, text: error.text, next: error.next)
    }
  }

  private func start(as user: UserAccount?) throws(ProgramFailure) -> StartedProgram {
    do throws(StartedProgram.Failure) {
      return try StartedProgram(
        arguments.map(\.bytes), unblocked: ProgramKeeper.received(options),
        defaults: OwnStart.ignored, as: user)
    } catch {
      switch error {
      case .cannotBecomeUser(let reason): throw Refusal.cannotBecome(options.user ?? "", reason)
      case .cannotStart(let reason):
        let isMissing = reason == .noSuchFile
        throw ProgramFailure(
          code: isMissing ? .commandNotFound : .cannotExecute, text: "cannot start \(name): \(reason.text)",
          next: isMissing && !name.contains("/")
            ? "a path such as ./\(name), or a command that is in PATH" : nil)
      }
    }
  }

  private func watch(
    _ keeper: ProgramKeeper, _ output: consuming ReportOutput, _ signals: consuming SignalDescriptor
  ) -> (end: ExitStatus?, hasStalls: Bool) {
    let program = keeper.program
    let descendants = Descendants(of: program.id, name: baseName)
    do throws(ProgramFailure) {
      let process = try WatchedProcess(program.id)
      let watch = try Watch(
        options, process, rules, output: output, signals: signals, requests: keeper.requests,
        meaning: keeper.meaning(of:))
      var end: ExitStatus?
      let reason = watch.run {
        end = program.waitForEnd()
        return (ProcessEnd(end), descendants?.living())
      }
      if reason != .targetEnded { watch.waitForTarget() }
      return (end, watch.hasVerifiedStalls)
    } catch {
      // A program that is over before it could be looked at was not worth a word, but what it left behind is.
      if error.code != .noSuchProcess { Program.complain("\(error.text); it runs on unwatched") }
      let end = error.code == .noSuchProcess ? program.waitForEnd() : nil
      for left in descendants?.living() ?? [] where end != nil {
        Program.complain(
          "\(name) has ended; \(left.name.text) (pid \(left.id)), which it started, still runs\n"
            + "  next: stallwatch --pid \(left.id)")
      }
      return (end, false)
    }
  }

  private var baseName: String {
    let bytes = arguments.first?.bytes ?? []
    let start = bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
    return String(decoding: bytes[start...], as: UTF8.self)
  }

  private func outcome(_ end: ExitStatus?, hasStalls: Bool) -> Outcome {
    guard let end else {
      Program.complain("how the program ended is not known: somebody else has waited for it")
      return .status(.runFailed)
    }
    if end == .exited(0), options.failOnStall, hasStalls { return .status(.stallsSeen) }
    return .child(end)
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
