// The completion for bash, made from the option table. It needs nothing of the package bash-completion.

func bashCompletion() -> String {
  """
  # Completion of stallwatch for bash: made by `stallwatch --generate bash`, to be sourced.

  _stallwatch() {
  \(bashWords)

    COMPREPLY=()
  \(bashProgram)
    case $option in
  \(indented(bashValueCases))
    esac
  \(bashOperands)
    case ${command:-watch} in
  \(indented(bashOptionCases))
    esac
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
  }

  complete -F _stallwatch stallwatch

  """
}

private func indented(_ lines: [String]) -> String { lines.map { "    \($0)" }.joined(separator: "\n") }

private var bashCommands: [String] { Command.allCases.map(\.rawValue) }

/// What is completed, after which word; and which command, and which program to run, stand before it.
private var bashWords: String {
  """
    local word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]}
    # Of --option=value bash makes three words.
    if [[ $word == = ]]; then
      word=
    elif [[ $option == = ]]; then
      option=${COMP_WORDS[COMP_CWORD - 2]}
    fi

    local command= program= options index
    for ((index = 1; index < COMP_CWORD; index++)); do
      case ${COMP_WORDS[index]} in
        --)
          program=$((index + 1))
          break
          ;;
        \(optionTable.filter(\.takesValue).flatMap(\.spellings).joined(separator: " | ")))
          [[ ${COMP_WORDS[index + 1]} != = ]] || index=$((index + 1))
          index=$((index + 1))
          ;;
        -*) ;;
        *)
          if [[ -z $command && ${COMP_WORDS[index]} == @(\(bashCommands.joined(separator: "|"))) ]]; then
            command=${COMP_WORDS[index]}
          elif [[ $command == run ]]; then
            program=$index
            break
          fi
          ;;
      esac
    done
  """
}

/// The program to run, and whatever that takes.
private var bashProgram: String {
  """
    if [[ -n $program && $program -lt $COMP_CWORD ]]; then
      compopt -o default
      return
    elif [[ -n $program ]]; then
      mapfile -t COMPREPLY < <(compgen -c -- "$word")
      return
    fi
  """
}

/// What is no option: a recording, a command, a process, a program to run.
private var bashOperands: String {
  """
    if [[ $word != -* && $command == replay ]]; then
      compopt -o filenames
      mapfile -t COMPREPLY < <(compgen -f -- "$word")
      return
    elif [[ $word != -* ]]; then
      local words=$(cd /proc && printf '%s ' [0-9]*)
      [[ -n $command ]] || words+='\(bashCommands.joined(separator: " "))'
      [[ $command != run ]] || words=$(compgen -c -- "$word")
      mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
      return
    fi
  """
}

/// One `case` for each command: its options.
private var bashOptionCases: [String] {
  Command.allCases.map { command in
    "\(command.rawValue)) options='\(options(of: command).flatMap(\.spellings).joined(separator: " "))' ;;"
  }
}

/// One `case` for each kind of value: the options that take it, and what is offered.
private var bashValueCases: [String] {
  var kinds: [(suggestion: Suggestion, spellings: [String])] = []
  for option in optionTable where option.takesValue {
    if let index = kinds.firstIndex(where: { $0.suggestion == option.suggestion }) {
      kinds[index].spellings += option.spellings
    } else {
      kinds.append((option.suggestion, option.spellings))
    }
  }
  return kinds.map { kind in
    // Names of files want their blanks escaped, and folders a slash.
    let names = kind.suggestion == .files ? "compopt -o filenames; " : ""
    let offer = bashOffer(kind.suggestion).map { "mapfile -t COMPREPLY < <(compgen \($0) -- \"$word\"); " }
    return "\(kind.spellings.joined(separator: " | "))) \(names)\(offer ?? "")return ;;"
  }
}

/// What `compgen` is asked for.
private func bashOffer(_ suggestion: Suggestion) -> String? {
  switch suggestion {
  case .nothing: nil
  case .processes: "-W \"$(cd /proc && printf '%s ' [0-9]*)\""
  case .processNames: "-W \"$(cat /proc/[0-9]*/comm 2>/dev/null)\""
  case .files: "-f"
  case .users: "-u"
  case .choices(let choices): "-W '\(choices.joined(separator: " "))'"
  }
}
