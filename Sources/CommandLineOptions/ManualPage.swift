// The manual page stallwatch(1): commands, options and statuses from their tables, the rest from `ManualText`.

func manualPage() -> String {
  var page = Roff(title: "STALLWATCH", section: 1, about: "User Commands")
  page.section("NAME")
  page.line("stallwatch - says when a program's main thread stalls, for how long, where and why")
  page.section("SYNOPSIS")
  page.lines(Command.allCases.map(\.manualSynopsis))
  page.prose("DESCRIPTION", ManualText.description)
  page.section("COMMANDS")
  for command in Command.allCases { page.item("`\(command.rawValue)`", ManualText.commands(command)) }
  page.section("OPTIONS")
  page.line(ManualText.options)
  for option in optionTable { page.item(option.manualTerm, option.manualText) }
  page.section("EXIT STATUS")
  for code in ExitCode.allCases { page.item("`\(code.rawValue)`", code.manualText) }
  page.paragraph("`run` ends \(ExitCode.runEndsAsItsProgram).")
  page.section("SIGNALS")
  page.line(ManualText.signalsIntroduction)
  for (signal, meaning) in ManualText.signals { page.item("`\(signal)`", meaning) }
  page.section("ENVIRONMENT")
  for (variable, meaning) in ManualText.environment { page.item("`\(variable)`", meaning) }
  page.prose("PERMISSIONS", ManualText.permissions)
  page.prose("EFFECT ON THE TARGET", ManualText.effect)
  page.section("EXAMPLES")
  for (purpose, command) in ManualText.examples { page.item("\(purpose):", "`\(command)`") }
  page.section("SEE ALSO")
  page.line(ManualText.seeAlso)
  return page.text
}

extension Roff {
  fileprivate mutating func prose(_ name: String, _ paragraphs: [String]) {
    section(name)
    for (index, words) in paragraphs.enumerated() {
      if index == 0 { line(words) } else { paragraph(words) }
    }
  }
}

extension Command {
  /// In bold what is typed as it stands; what a person replaces is written in capitals or brackets.
  fileprivate var manualSynopsis: String {
    synopsis.split(separator: " ").map {
      $0.first?.isUppercase == true || $0.hasPrefix("[") ? "\($0)" : "`\($0)`"
    }
    .joined(separator: " ")
  }
}

extension OptionDefinition {
  /// `-t, --threshold DUR`, what is typed as it is in bold.
  fileprivate var manualTerm: String {
    spellings.map { "`\($0)`" }.joined(separator: ", ") + (valueName.map { " \($0)" } ?? "")
  }

  fileprivate var manualText: String {
    var text = help
    if case .value(_, let standard?, _) = effect { text += "; default \(standard)" }
    if commands != Command.allCases { text += ". For \(commandNames(commands))" }
    return text + "."
  }
}

extension ExitCode {
  fileprivate var manualText: String { "\(commandNames(commands)): \(meaning)." }
}

private func commandNames(_ commands: [Command]) -> String {
  commands.map { "`\($0.rawValue)`" }.joined(separator: ", ")
}
