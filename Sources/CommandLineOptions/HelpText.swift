// The help, made from the option table.

extension Command {
  package var synopsis: String {
    switch self {
    case .watch: "stallwatch --pid PID [options]"
    case .run: "stallwatch run [options] -- COMMAND [ARG…]"
    case .replay: "stallwatch replay FILE [options]"
    case .dump: "stallwatch dump --pid PID [options]"
    case .doctor: "stallwatch doctor [--pid PID]"
    }
  }

  package var summary: String {
    switch self {
    case .watch: "watch a running program"
    case .run: "start a program and watch it"
    case .replay: "judge a recording again, with other thresholds"
    case .dump: "every thread's stack, now"
    case .doctor: "what this machine and this user allow, and the next step"
    }
  }
}

/// The help of one command, or of the whole program, with a trailing newline.
package func helpText(for command: Command?) -> String {
  let shown = command ?? .watch
  var lines: [String] = []
  if command == nil {
    lines.append("stallwatch says when a program's main thread stalls, for how long, where and why.")
    lines.append("")
    let width = Command.allCases.map(\.synopsis.count).max() ?? 0
    lines += Command.allCases.map { padded($0.synopsis, to: width + 2) + $0.summary }
  } else {
    lines.append("\(shown.synopsis)   \(shown.summary)")
  }
  lines += ["", command == nil ? "Options of watch:" : "Options:"]
  lines += optionLines(options(of: shown))
  lines += ["", "A duration needs a unit: 500ms, 1.5s, 2m, 1m30s. Of a repeated option the last one counts."]
  lines += ["", "Exit status:"]
  lines += exitCodes(of: shown).map { padded("  \($0.rawValue)", to: 6) + $0.meaning }
  if shown == .run { lines.append("  \(ExitCode.runEndsAsItsProgram)") }
  if command == nil { lines += ["", "stallwatch COMMAND --help tells of the others."] }
  return lines.joined(separator: "\n") + "\n"
}

/// Names, explanations and defaults of options, in two columns.
func optionLines(_ rows: [OptionDefinition]) -> [String] {
  let width = rows.map(\.usage.count).max() ?? 0
  return rows.map { padded("  " + $0.usage, to: width + 4) + $0.explanation }
}

private func exitCodes(of command: Command) -> [ExitCode] {
  ExitCode.allCases.filter { $0.commands.contains(command) }
}

extension OptionDefinition {
  /// `-t, --threshold DUR`
  fileprivate var usage: String {
    let names = (short.map { "-\($0), " } ?? "    ") + "--\(long)"
    return names + (valueName.map { " \($0)" } ?? "")
  }

  fileprivate var explanation: String {
    var text = help
    if let alias { text += " (also --\(alias))" }
    if case .value(_, let standard?, _) = effect { text += " [\(standard)]" }
    return text
  }
}

private func padded(_ text: String, to width: Int) -> String {
  text + String(repeating: " ", count: max(0, width - text.count))
}
