# Completion of stallwatch for bash: made by `stallwatch --generate bash`, to be sourced.

_stallwatch() {
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
      -p | --pid | --name | --user | --timeout | --thread | --home | --heartbeat | -t | --threshold | --cpu-threshold | --cpu-window | --interval | --cooldown | --phase | --probe | --stacks | --max-frames | --observer | --symbols | -o | --output | --record | -d | --duration | --for | --count | --color | --generate)
        [[ ${COMP_WORDS[index + 1]} != = ]] || index=$((index + 1))
        index=$((index + 1))
        ;;
      -*) ;;
      *)
        if [[ -z $command && ${COMP_WORDS[index]} == @(watch|run|replay|dump|doctor) ]]; then
          command=${COMP_WORDS[index]}
        elif [[ $command == run ]]; then
          program=$index
          break
        fi
        ;;
    esac
  done

  COMPREPLY=()
  if [[ -n $program && $program -lt $COMP_CWORD ]]; then
    compopt -o default
    return
  elif [[ -n $program ]]; then
    mapfile -t COMPREPLY < <(compgen -c -- "$word")
    return
  fi
  case $option in
    -p | --pid) mapfile -t COMPREPLY < <(compgen -W "$(cd /proc && printf '%s ' [0-9]*)" -- "$word"); return ;;
    --name | --user) mapfile -t COMPREPLY < <(compgen -W "$(cat /proc/[0-9]*/comm 2>/dev/null)" -- "$word"); return ;;
    --timeout | --thread | --home | --heartbeat | -t | --threshold | --cpu-threshold | --cpu-window | --interval | --cooldown | --phase | --probe | --max-frames | -d | --duration | --for | --count) return ;;
    --stacks) mapfile -t COMPREPLY < <(compgen -W 'stalled busy all' -- "$word"); return ;;
    --observer) mapfile -t COMPREPLY < <(compgen -W 'auto proc bpf' -- "$word"); return ;;
    --symbols) mapfile -t COMPREPLY < <(compgen -W 'none fast full' -- "$word"); return ;;
    -o | --output | --record) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
    --color) mapfile -t COMPREPLY < <(compgen -W 'auto always never' -- "$word"); return ;;
    --generate) mapfile -t COMPREPLY < <(compgen -W 'man bash zsh fish' -- "$word"); return ;;
  esac
  if [[ $word != -* && $command == replay ]]; then
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
    return
  elif [[ $word != -* ]]; then
    local words=$(cd /proc && printf '%s ' [0-9]*)
    [[ -n $command ]] || words+='watch run replay dump doctor'
    [[ $command != run ]] || words=$(compgen -c -- "$word")
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
    return
  fi
  case ${command:-watch} in
    watch) options='-p --pid --name --wait --thread --home --heartbeat --ping -t --threshold --cpu-threshold --cpu-window --interval --cooldown --watchdog --phase --probe --stacks --max-frames --never-stop --no-breakpoint --observer --cpu-only --symbols --json -o --output --record -d --duration --for --count --fail-on-stall --color -q --quiet -v --verbose --generate -V --version -h --help' ;;
    run) options='--user --timeout --thread --home --heartbeat --ping -t --threshold --cpu-threshold --cpu-window --interval --cooldown --watchdog --phase --probe --stacks --max-frames --never-stop --no-breakpoint --observer --cpu-only --symbols --json -o --output --record -d --duration --for --count --fail-on-stall --color -q --quiet -v --verbose --generate -V --version -h --help' ;;
    replay) options='--home -t --threshold --cooldown --watchdog --phase --json -o --output --count --fail-on-stall --color -q --quiet -v --verbose --generate -V --version -h --help' ;;
    dump) options='-p --pid --name --thread --max-frames --never-stop --observer --symbols --json -o --output --color -q --quiet -v --verbose --generate -V --version -h --help' ;;
    doctor) options='-p --pid --name --generate -V --version -h --help' ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
}

complete -F _stallwatch stallwatch
