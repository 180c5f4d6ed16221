// The exit statuses that are promised, each with what it means; help, manual page and README get them from here.

package enum ExitCode: Int32, CaseIterable, Sendable {
  case success = 0
  case internalFailure = 1
  case wrongUsage = 2
  case noSuchProcess = 3
  case notPermitted = 4
  case threadWithoutStack = 5
  case stallsSeen = 10
  // Those that a command of another cannot be mistaken for, as with env(1) and timeout(1).
  case runFailed = 125
  case cannotExecute = 126
  case commandNotFound = 127

  /// The commands that can end so. Apart from these, `run` ends as its program ended.
  package var commands: [Command] {
    switch self {
    case .success, .internalFailure, .wrongUsage: [.watch, .replay, .dump, .doctor]
    case .noSuchProcess, .notPermitted: [.watch, .dump, .doctor]
    case .threadWithoutStack: [.dump]
    case .stallsSeen: [.watch, .run, .replay]
    case .runFailed, .cannotExecute, .commandNotFound: [.run]
    }
  }

  package var meaning: String {
    switch self {
    case .success: "the program ended, or what was asked for was done"
    case .internalFailure: "internal failure; for doctor, something is missing"
    case .wrongUsage: "wrong usage"
    case .noSuchProcess: "no such process"
    case .notPermitted: "not permitted"
    case .threadWithoutStack: "a live thread had no stack at all"
    case .stallsSeen: "verified stalls were seen, and --fail-on-stall was given"
    case .runFailed: "stallwatch itself failed or was used wrongly"
    case .cannotExecute: "the program cannot be executed"
    case .commandNotFound: "the program was not found"
    }
  }

  /// What `doctor` found.
  package static let somethingMissing = ExitCode.internalFailure

  /// What `run` does beside its statuses of this table.
  package static let runEndsAsItsProgram =
    "otherwise as its program ended: the same status or signal; --fail-on-stall turns 0 into 10"
}
