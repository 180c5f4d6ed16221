# Completion of stallwatch for fish: made by `stallwatch --generate fish`, to be put beside fish's other completions.

# The command that stands on the line, or none.
function __stallwatch_command
    for word in (commandline -opc)[2..-1]
        if contains -- $word watch run replay dump doctor
            echo $word
            return
        end
    end
    echo none
end

# The program to run and what it offers itself: it comes after two words that are no options.
function __stallwatch_program
    __fish_complete_subcommand --fcs-skip=2 -p --pid --name --user --timeout --thread --home --heartbeat -t --threshold --cpu-threshold --cpu-window --interval --cooldown --phase --probe --stacks --max-frames --observer --symbols -o --output --record -d --duration --for --count --color --generate
end

complete -c stallwatch -f
complete -c stallwatch -n 'test (__stallwatch_command) = none' -a watch -d 'watch a running program'
complete -c stallwatch -n 'test (__stallwatch_command) = none' -a run -d 'start a program and watch it'
complete -c stallwatch -n 'test (__stallwatch_command) = none' -a replay -d 'judge a recording again, with other thresholds'
complete -c stallwatch -n 'test (__stallwatch_command) = none' -a dump -d 'every thread\'s stack, now'
complete -c stallwatch -n 'test (__stallwatch_command) = none' -a doctor -d 'what this machine and this user allow, and the next step'
complete -c stallwatch -n 'not contains (__stallwatch_command) run replay' -a '(__fish_complete_pids)'
complete -c stallwatch -n 'test (__stallwatch_command) = replay' -F
complete -c stallwatch -n 'test (__stallwatch_command) = run' -a '(__stallwatch_program)'
complete -c stallwatch -n 'contains (__stallwatch_command) watch dump doctor none' -s p -l pid -x -a '(__fish_complete_pids)' -d 'the process to look at; the bare number will do'
complete -c stallwatch -n 'contains (__stallwatch_command) watch dump doctor none' -l name -x -a '(__fish_complete_proc)' -d 'the process of this name, or that runs a file of this name'
complete -c stallwatch -n 'contains (__stallwatch_command) watch none' -l wait -d 'wait until there is one of that --name, and for the next one when it ends'
complete -c stallwatch -n 'contains (__stallwatch_command) run' -l user -x -a '(__fish_complete_proc)' -d 'start the program as this user'
complete -c stallwatch -n 'contains (__stallwatch_command) run' -l timeout -x -d 'after this time show what every thread does, and send SIGTERM'
complete -c stallwatch -n 'contains (__stallwatch_command) watch run dump none' -l thread -x -d 'auto (whichever runs the loop), main, all, a thread id, or name:GLOB'
complete -c stallwatch -n 'contains (__stallwatch_command) watch run replay none' -l home -x -d 'where the loop parks: epoll:7, poll, fd:5, accept:3, sleep, …'
complete -c stallwatch -n 'contains (__stallwatch_command) watch run none' -l heartbeat -x -d 'a variable that the loop counts up; also MODULE:SYMBOL, MODULE+0xN'
complete -c stallwatch -n 'contains (__stallwatch_command) watch run none' -l ping -d 'write to the wake-up of a known loop, to see whether it comes round'
complete -c stallwatch -n 'contains (__stallwatch_command) watch run replay none' -s t -l threshold -x -d 'a stall is this long; at least 10ms'
complete -c stallwatch -n 'contains (__stallwatch_command) watch run none' -l cpu-threshold -x -d 'a thread is busy above this share of one core; 0: off'
complete -c stallwatch -n 'contains (__stallwatch_command) watch run none' -l cpu-window -x -d 'the time over which a thread has to be that busy'
complete -c stallwatch -n 'contains (__stallwatch_command) watch run none' -l interval -x -d 'distance of looks while alert; at most a third of the threshold'
complete -c stallwatch -n 'contains (__stallwatch_command) watch run replay none' -l cooldown -x -d 'distance of reports of one place, doubled each time; 0: all'
complete -c stallwatch -n 'contains (__stallwatch_command) watch run replay none' -l watchdog -d 'launch 20s, resume, suspend 10s, quit 6s, background 3m'
complete -c stallwatch -n 'contains (__stallwatch_command) watch run replay none' -l phase -x -d 'the threshold of one phase of the program\'s life, as above'
complete -c stallwatch -n 'contains (__stallwatch_command) watch run none' -l probe -x -d 'ask the program: http://localhost:80/, tcp://127.0.0.1:80, unix:/PATH'
complete -c stallwatch -n 'contains (__stallwatch_command) watch run none' -l stacks -x -a 'stalled busy all' -d 'of a stall: stalled, busy (and lock holders), or all'
complete -c stallwatch -n 'contains (__stallwatch_command) watch run dump none' -l max-frames -x -d 'the most frames of one stack'
complete -c stallwatch -n 'contains (__stallwatch_command) watch run dump none' -l never-stop -d 'never hold a thread still to copy its stack'
complete -c stallwatch -n 'contains (__stallwatch_command) watch run none' -l no-breakpoint -d 'set no breakpoint on the loop: its debug registers are left alone'
complete -c stallwatch -n 'contains (__stallwatch_command) watch run dump none' -l observer -x -a 'auto proc bpf' -d 'look through proc (files), bpf (the task iterator), or auto'
complete -c stallwatch -n 'contains (__stallwatch_command) watch run none' -l cpu-only -d 'state and CPU time only: no stalls, no stacks, no rights needed'
complete -c stallwatch -n 'contains (__stallwatch_command) watch run dump none' -l symbols -x -a 'none fast full' -d 'none; fast: names alone; full: lines and inlined calls too'
complete -c stallwatch -n 'contains (__stallwatch_command) watch run replay dump none' -l json -d 'one JSON object a line instead of text'
complete -c stallwatch -n 'contains (__stallwatch_command) watch run replay dump none' -s o -l output -r -F -d 'write reports here; - is standard output, fd:3 a descriptor'
complete -c stallwatch -n 'contains (__stallwatch_command) watch run none' -l record -r -F -d 'record what is seen here, for `stallwatch replay`'
complete -c stallwatch -n 'contains (__stallwatch_command) watch run none' -s d -l duration -l for -x -d 'stop watching after this time'
complete -c stallwatch -n 'contains (__stallwatch_command) watch run replay none' -l count -x -d 'stop watching after this many ended stalls'
complete -c stallwatch -n 'contains (__stallwatch_command) watch run replay none' -l fail-on-stall -d 'exit with 10 if verified stalls were seen'
complete -c stallwatch -n 'contains (__stallwatch_command) watch run replay dump none' -l color -x -a 'auto always never' -d 'auto, always or never'
complete -c stallwatch -n 'contains (__stallwatch_command) watch run replay dump none' -s q -l quiet -d 'reports only'
complete -c stallwatch -n 'contains (__stallwatch_command) watch run replay dump none' -s v -l verbose -d 'all frames and evidence'
complete -c stallwatch -n 'contains (__stallwatch_command) watch run replay dump doctor none' -l generate -x -a 'man bash zsh fish' -d 'print the manual page (man) or completions (bash, zsh, fish)'
complete -c stallwatch -n 'contains (__stallwatch_command) watch run replay dump doctor none' -s V -l version -d 'print the version'
complete -c stallwatch -n 'contains (__stallwatch_command) watch run replay dump doctor none' -s h -l help -d 'print this'
