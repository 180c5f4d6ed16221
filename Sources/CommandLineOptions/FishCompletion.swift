// The completion for fish, made from the option table.

func fishCompletion() -> String {
  let names = Command.allCases.map(\.rawValue).joined(separator: " ")
  let commands = Command.allCases.map {
    "complete -c stallwatch -n 'test (__stallwatch_command) = none' -a \($0.rawValue) -d \(fishWord($0.summary))"
  }
  return """
    # Completion of stallwatch for fish: made by `stallwatch --generate fish`, to be put beside fish's other completions.

    # The command that stands on the line, or none.
    function __stallwatch_command
        for word in (commandline -opc)[2..-1]
            if contains -- $word \(names)
                echo $word
                return
            end
        end
        echo none
    end

    # The program to run and what it offers itself: it comes after two words that are no options.
    function __stallwatch_program
        __fish_complete_subcommand --fcs-skip=2 \(optionTable.filter(\.takesValue).flatMap(\.spellings).joined(separator: " "))
    end

    complete -c stallwatch -f
    \(commands.joined(separator: "\n"))
    complete -c stallwatch -n 'not contains (__stallwatch_command) run replay' -a '(__fish_complete_pids)'
    complete -c stallwatch -n 'test (__stallwatch_command) = replay' -F
    complete -c stallwatch -n 'test (__stallwatch_command) = run' -a '(__stallwatch_program)'
    \(optionTable.map(fishLine).joined(separator: "\n"))

    """
}

private func fishLine(_ option: OptionDefinition) -> String {
  let commands = option.commands.map(\.rawValue) + (option.commands.contains(.watch) ? ["none"] : [])
  let names =
    (option.short.map { "-s \($0) " } ?? "") + "-l \(option.long)" + (option.alias.map { " -l \($0)" } ?? "")
  let value = option.takesValue ? " \(fishOffer(option.suggestion))" : ""
  return "complete -c stallwatch -n 'contains (__stallwatch_command) \(commands.joined(separator: " "))' "
    + "\(names)\(value) -d \(fishWord(option.help))"
}

private func fishOffer(_ suggestion: Suggestion) -> String {
  switch suggestion {
  case .nothing: "-x"
  case .processes: "-x -a '(__fish_complete_pids)'"
  case .processNames: "-x -a '(__fish_complete_proc)'"
  case .files: "-r -F"
  case .users: "-x -a '(__fish_complete_users)'"
  case .choices(let choices): "-x -a '\(choices.joined(separator: " "))'"
  }
}

/// In single quotes, where a backslash keeps itself and the quote from ending the word.
private func fishWord(_ text: String) -> String {
  "'" + text.flatMap { "'\\".contains($0) ? "\\\($0)" : String($0) } + "'"
}
