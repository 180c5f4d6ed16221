// What a shell can offer for the value of an option.

enum Suggestion: Equatable {
  /// Nothing that a shell could know, such as a duration.
  case nothing
  case processes, processNames, files, users
  case choices([String])
}

extension OptionDefinition {
  var takesValue: Bool { valueName != nil }

  /// The word that stands for the value in the help; nil: it takes none.
  var valueName: String? {
    guard case .value(let name, _, _) = effect else { return nil }
    return name
  }

  /// The word that stands for a value says what it is; choices are those that the refusal of no word lists.
  var suggestion: Suggestion {
    guard case .value(let name, _, let apply) = effect else { return .nothing }
    switch name {
    case "PID": return .processes
    case "NAME": return .processNames
    case "FILE": return .files
    case "USER": return .users
    default: break
    }
    var options = Options()
    do {
      try apply("", &options)
    } catch .notAChoice(let choices) {
      return .choices(choices)
    } catch {}
    return .nothing
  }

  /// `-o`, `--output`, as they are typed.
  var spellings: [String] {
    (short.map { ["-\($0)"] } ?? []) + ["--\(long)"] + (alias.map { ["--\($0)"] } ?? [])
  }
}

/// The options of a command, in the order of the table.
func options(of command: Command) -> [OptionDefinition] {
  optionTable.filter { $0.commands.contains(command) }
}
