// Where the rules for first stacks come from: the table of the program, or a file that takes its place.

internal import CommandLineOptions
internal import Glibc
internal import Linux
internal import StallCore

enum LoopRulesFile {
  static let variable = "STALLWATCH_LOOP_RULES"

  /// The table in force. What is wrong with it is known before anything is watched or started.
  static func rules(for command: Command) throws(ProgramFailure) -> LoopRules {
    guard let path = unsafe getenv(variable).map({ unsafe String(cString: $0) }) else { return .builtIn }
    let shown = "\(variable)=\(ByteString(path).escaped)"
    guard let file = RegularFile(path: Array(path.utf8)) else {
      throw failure("\(shown) is no file that can be read", command)
    }
    let bytes: [UInt8]
    do throws(Errno) { bytes = try file.descriptor.readAll(limit: LoopRules.mostBytes) } catch {
      throw failure("\(shown) cannot be read: \(error.text)", command)
    }
    do throws(LoopRulesProblem) { return try LoopRules(parsing: bytes) } catch {
      throw failure("\(shown), line \(error.line): \(error.text)", command)
    }
  }

  private static func failure(_ text: String, _ command: Command) -> ProgramFailure {
    ProgramFailure(
      code: command == .run ? .runFailed : .wrongUsage, text: text,
      next: "unset \(variable), or give it a table; an empty file means no rules")
  }
}
