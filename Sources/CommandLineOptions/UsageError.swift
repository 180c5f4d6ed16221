// Why a command line was refused, each with the text that says so and what to try.

package import StallCore

/// What is wrong with the value of an option.
package enum ValueProblem: Error, Sendable, Equatable {
  case noUnit(likely: String)
  case notADuration
  case durationNotPositive
  case tooLong(most: String)
  case tooShort(least: String)
  case notAPercentage
  case notACount(ClosedRange<Int>)
  case notAChoice([String])
  case notAPhase([String])
  case notAProbe
  case encryptedProbe
  case namedProbe
  case notADescriptor
  case notAHome(likely: String?)
  case notAVariable
  case emptyFileName
  case onlyAFile
  case notAProcessID
  case processIDOutOfRange
  case processIDWritten(as: String)
  case notAThread
  case emptyThreadName
  case emptyProcessName
  case pathAsName(String)

  /// Continues "--option value".
  fileprivate func text(_ option: String, _ value: String) -> String {
    switch self {
    case .noUnit(let unit): " has no unit; \(value)\(unit)?"
    case .notADuration: " is not a duration; 500ms, 1.5s, 2m or 1m30s?"
    case .durationNotPositive: " is not longer than nothing; \(option) 500ms?"
    case .tooLong(let most): " is too long; at most \(most)"
    case .tooShort(let least): " is too short; at least \(least)"
    case .notAPercentage: " is not a share of one core; a number from 0 to 100, as in \(option) 70"
    case .notACount(let range):
      " is not a whole number from \(range.lowerBound) to \(range.upperBound); \(option) \(range.lowerBound)?"
    case .notAChoice(let choices): " is not known; \(choices.joined(separator: ", "))?"
    case .notAPhase(let names):
      " is no phase with a threshold; \(option) launch=5s?\n  next: phases are \(names.joined(separator: ", "))"
    case .notAProbe:
      " is nothing that can be asked; \(option) http://localhost:8080/health, tcp://localhost:8080 or unix:/run/app.sock?"
    case .encryptedProbe:
      " is encrypted, and TLS is not spoken here\n  next: an http:// or tcp:// address of the same program"
    case .namedProbe:
      " names a host, and names are not looked up; \(option) http://localhost:8080 or http://127.0.0.1:8080?"
    case .notADescriptor: " names no descriptor; \(option) fd:3?"
    case .notAHome(let likely?): " names no wait; \(option) \(likely)?"
    case .notAHome(nil): " names no wait; \(HomeSelector.choices.joined(separator: ", "))?"
    case .notAVariable: " names no variable; \(option) SYMBOL, MODULE:SYMBOL or MODULE+0x4010?"
    case .emptyFileName: " is an empty name; \(option) stalls.txt, or \(option) - for standard output?"
    case .onlyAFile: " is no file; \(option) FILE?"
    case .notAProcessID: " is not a process id\n  next: `pgrep NAME` prints the ids of a program"
    case .processIDOutOfRange:
      " can be no process id; they are whole numbers from 1 to 2147483647\n  next: `pgrep NAME` prints them"
    case .processIDWritten(let number): " is not how a process id is written; \(number)?"
    case .emptyProcessName: " is an empty name; \(option) NAME"
    case .pathAsName(let name): " is a path; \(option) \(name.isEmpty ? "NAME" : name)?"
    case .emptyThreadName: " names no thread; \(option) name:'worker-*'?"
    case .notAThread:
      " names no thread; auto, main, all, a number, or name:GLOB\n  next: `stallwatch dump --pid PID` shows all threads with their ids"
    }
  }
}

/// Why a command line was refused.
package enum UsageError: Error, Sendable, Equatable {
  /// `word`: the whole word, where the option is one letter of several.
  case unknownOption(String, word: String? = nil, nearest: String?)
  case optionOfOtherCommand(String, command: Command, belongsTo: [Command])
  case missingValue(option: String, name: String, next: String?)
  case unwantedValue(option: String)
  case notText(option: String)
  case value(option: String, value: String, ValueProblem)
  case intervalTooLong(most: Duration)
  case noProcess(Command)
  case noProgram
  case programInsteadOfProcess([ByteString])
  case secondProcess(String)
  case jsonIntoChildOutput
  case waitWithoutName
  case threadOfNewProgram
  case recordWhileWaiting
  case noRecording
  case secondRecording(ByteString)
  case heartbeatOfManyThreads
  case touchesWithoutLooking(option: String)

  /// One or two lines without a trailing newline, each ending in what to try. Arguments are escaped.
  package var text: String {
    switch self {
    case .unknownOption(let option, let word, let nearest):
      "there is no option \(shown(option))" + (word.map { " (in \(shown($0)))" } ?? "")
        + (nearest.map { "; \($0)?" } ?? "\n  next: stallwatch --help lists them")
    case .optionOfOtherCommand(let option, let command, let owners):
      "\(option) has no meaning for \(command.rawValue), only for "
        + listed(owners)
        + "\n  next: stallwatch \(command.rawValue) --help"
    case .missingValue(let option, let name, nil): "\(option) needs a value; \(option) \(name)"
    case .missingValue(let option, _, let next?):
      "\(option) needs a value, and \(shown(next)) looks like an option; "
        + "\(option)\(option.hasPrefix("--") ? "=" : "")\(shown(next)) if it is meant"
    case .unwantedValue(let option): "\(option) takes no value; \(option) alone?"
    case .notText(let option): "the value of \(option) is not UTF-8; give it another name"
    case .value(let option, let value, let problem):
      "\(option) \(shown(value))" + problem.text(option, shown(value))
    case .intervalTooLong(let most):
      "--interval is more than a third of the threshold; --interval \(durationText(most)) at most"
    case .waitWithoutName: "--wait waits for a name, since a number comes once; stallwatch --name NAME --wait"
    case .threadOfNewProgram:
      "a program that is to be started has no thread ids yet; --thread all or --thread name:GLOB"
    case .recordWhileWaiting: "a recording is of one process; --record without --wait"
    case .noRecording: "no recording was named; stallwatch replay FILE"
    case .secondRecording(let word):
      "one recording at a time, and \(shown(word)) is one more; replay it by itself"
    case .heartbeatOfManyThreads:
      "--heartbeat is the counter of one loop; --thread TID, or leave --thread out"
    case .touchesWithoutLooking(let option):
      "--cpu-only looks into nothing, and \(option) needs what is in there; leave one of them out"
    case .noProcess(.dump): "no process was named; stallwatch dump --pid PID"
    case .noProcess: "no process was named; stallwatch --pid PID, or stallwatch run -- COMMAND"
    case .noProgram: "run needs a command; stallwatch run -- ./app"
    case .programInsteadOfProcess(let words):
      "\(shown(words.first ?? "")) is not a process id; to start a program: stallwatch run -- "
        + words.map(shellWord).joined(separator: " ")
    case .secondProcess(let word):
      "one process at a time, and \(shown(word)) is one more; start a second stallwatch for it"
    case .jsonIntoChildOutput:
      "standard output belongs to the program that is run; where shall the records go?\n"
        + "  next: -o stalls.jsonl, or -o fd:3"
    }
  }
}

/// A refusal and the command it was meant for, which decides the exit status.
package struct RefusedCommandLine: Error, Sendable, Equatable {
  package let reason: UsageError
  package let command: Command

  /// 2, or 125 where the status is the child's (as env(1) and timeout(1) do).
  package var exitCode: ExitCode { command == .run ? .runFailed : .wrongUsage }
}

/// "watch, dump and doctor".
private func listed(_ commands: [Command]) -> String {
  let words = commands.map(\.rawValue)
  return words.dropLast().joined(separator: ", ") + (words.count > 1 ? " and " : "") + (words.last ?? "")
}

private func shown(_ text: String) -> String { shown(ByteString(text)) }

/// Escaped, and in quotes where its ends could not be seen.
private func shown(_ word: ByteString) -> String {
  let text = word.escaped
  return text.isEmpty || text.contains(where: \.isWhitespace) ? "'\(text)'" : text
}

/// The word as a shell takes it (POSIX.1-2017, Shell Command Language, 2.2.2).
private func shellWord(_ word: ByteString) -> String {
  let isSafe = word.bytes.allSatisfy { byte in
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "-_./=:,+@%".utf8.contains(byte)
    }
  }
  if isSafe && !word.bytes.isEmpty { return word.escaped }
  return "'" + word.escaped.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
    + "'"
}
