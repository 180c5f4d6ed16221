// From the command line to a command, and from what happened to an exit status.

internal import CommandLineOptions
internal import Glibc
internal import Linux
internal import StallCore

/// How the program ends.
enum Outcome {
  case status(ExitCode)
  /// In `run`: as the child ended.
  case child(ExitStatus)
}

/// Why a command could not do what it was asked for: what was tried, why it failed, what to do next.
struct ProgramFailure: Error {
  var code: ExitCode
  var text: String
  var next: String?
}

enum Program {
  static let version = "0.1.0"

  static func run(_ words: [ByteString]) -> Outcome {
    OwnStart.prepare()
    do {
      switch try Invocation(words) {
      case .help(let command): return say(helpText(for: command))
      case .version: return say("stallwatch \(version)\n")
      case .generate(let file): return say(file.text)
      case .perform(let options): return perform(options)
      }
    } catch {
      complain(error.reason.text)
      return .status(error.exitCode)
    }
  }

  private static func perform(_ options: Options) -> Outcome {
    do throws(ProgramFailure) {
      switch options.command {
      case .watch:
        var command = WatchCommand(options, try LoopRulesFile.rules(for: .watch))
        return .status(try command.run())
      case .replay: return .status(try ReplayCommand(options).run())
      case .dump: return .status(try DumpCommand(options).run())
      case .run: return try RunCommand(options, try LoopRulesFile.rules(for: .run)).run()
      case .doctor: return .status(try DoctorCommand(options).run())
      }
    } catch {
      complain(error.text)
      if let next = error.next { remark("  next: \(next)") }
      return .status(error.code)
    }
  }

  private static func say(_ text: String) -> Outcome {
    do throws(Errno) { try writeAll(Array(text.utf8), to: STDOUT_FILENO) } catch {
      return .status(error == .brokenPipe ? .success : .internalFailure)
    }
    return .status(.success)
  }

  static func complain(_ text: String) { remark("stallwatch: \(text)") }

  /// A line on standard error; nobody can be told if that fails.
  static func remark(_ text: String) { try? writeAll(Array("\(text)\n".utf8), to: STDERR_FILENO) }

  static func exit(with outcome: Outcome) -> Never {
    switch outcome {
    case .status(let code): Glibc.exit(code.rawValue)
    case .child(.exited(let status)): Glibc.exit(status)
    case .child(.signaled(let signal)): OwnEnd.die(by: signal)
    }
  }
}
