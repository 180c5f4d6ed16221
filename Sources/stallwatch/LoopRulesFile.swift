// Where the rules for first stacks come from: the table of the program, or a file that takes its place.

internal import CommandLineOptions
internal import Glibc
internal import Linux
internal import StallCore

enum LoopRulesFile {
  static let variable = "STALLWATCH_LOOP_RULES"

  /// The table in force.
  static func rules() throws(ProgramFailure) -> LoopRules {
    guard let path = unsafe getenv(variable).map({ unsafe String(cString: $0) }) else { return .builtIn }
    let shown = "\(variable)=\(ByteString(path).escaped)"
    guard let file = RegularFile(path: Array(path.utf8)) else {
      throw failure("\(shown) is no file that can be read")
    }
    let bytes: [UInt8]
    do throws(Errno) { bytes = try file.descriptor.readAll(limit: LoopRules.mostBytes) } catch {
      throw failure("\(shown) cannot be read: \(error.text)")
    }
    do throws(LoopRulesProblem) { return try LoopRules(parsing: bytes) } catch {
      throw failure("\(shown), line \(error.line): \(error.text)")
    }
  }

  private static func failure(_ text: String) -> ProgramFailure {
    ProgramFailure(
      code: .wrongUsage, text: text,
      next: "unset \(variable), or give it a table; an empty file means no rules")
  }
}
