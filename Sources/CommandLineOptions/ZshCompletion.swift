// The completion for zsh, made from the option table.

func zshCompletion() -> String {
  let cases = Command.allCases.map { command in
    let rows = options(of: command).map { "      \(zshSpecification($0)) \\" }
    return """
          (\(command.rawValue))
            _arguments -s -S \\
      \(rows.joined(separator: "\n"))
            \(zshOperands(command))
            ;;
      """
  }
  let commands = Command.allCases.map { "    \(zshWord("\($0.rawValue):\($0.summary)"))" }
  return """
    #compdef stallwatch
    # Completion of stallwatch for zsh: made by `stallwatch --generate zsh`, to be put into a folder of $fpath.

    _stallwatch_first() {
      local -a commands=(
    \(commands.joined(separator: "\n"))
      )
      _describe -t commands command commands
      _pids
    }

    _stallwatch() {
      local command=${words[(r)(\(Command.allCases.map(\.rawValue).joined(separator: "|")))]}
      case ${command:-watch} in
    \(cases.joined(separator: "\n"))
      esac
    }

    _stallwatch "$@"

    """
}

/// The words that are no options; the name of the command is the first of them.
private func zshOperands(_ command: Command) -> String {
  switch command {
  case .watch: "'1:command or process:_stallwatch_first' '2::process:_pids'"
  case .run: "'1:command:(run)' '(-)2:program:_command_names -e' '*::argument:_normal'"
  case .replay: "'1:command:(replay)' '2:recording:_files'"
  case .dump, .doctor: "'1:command:(\(command.rawValue))' '2::process:_pids'"
  }
}

/// `'(-o --output)'{-o+,--output=}'[explanation]:FILE:_files'`, of zshcompsys(1), `_arguments`.
private func zshSpecification(_ option: OptionDefinition) -> String {
  let names = option.spellings.map { name in
    option.takesValue ? name + (name.hasPrefix("--") ? "=" : "+") : name
  }
  let exclusion = names.count > 1 ? "'(\(option.spellings.joined(separator: " ")))'" : ""
  let spelled = names.count > 1 ? "{\(names.joined(separator: ","))}" : names[0]
  let escaped = option.help.flatMap { "[]:\\".contains($0) ? "\\\($0)" : String($0) }
  let value = option.valueName.map { ":\($0):\(zshOffer(option.suggestion))" } ?? ""
  return exclusion + spelled + zshWord("[\(String(escaped))]\(value)")
}

private func zshOffer(_ suggestion: Suggestion) -> String {
  switch suggestion {
  case .nothing: " "
  case .processes: "_pids"
  case .processNames: "_process_names"
  case .files: "_files"
  case .users: "_users"
  case .choices(let choices): "(\(choices.joined(separator: " ")))"
  }
}

private func zshWord(_ text: String) -> String {
  "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
}
