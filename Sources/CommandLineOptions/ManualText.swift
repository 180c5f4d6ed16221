// What the manual page says beyond the tables; between backticks stands what is typed.

enum ManualText {
  static let description = [
    "`stallwatch` watches a running Linux program from outside. It says that its main thread stalled, for how long, "
      + "where (a stack with names) and why (the cause, with its evidence), and which threads burn more than 70 % of "
      + "a core. It needs nothing from the program: no library, no rebuild, no restart.",
    "What the program's event loop waits on is inferred from the waits of the thread. A stall is a time of at least "
      + "the threshold in which the loop did not come back to that wait. It is reported when it has lasted as long as "
      + "the threshold, again each time its duration has doubled, and when it ends.",
    "Reports go to standard output, remarks to standard error. With `run` both belong to the program: reports go to "
      + "standard error, or to the file of `-o`.",
    "Stacks are copied from outside and named in a process without rights: from symbol tables, debug information "
      + "(that of separate debug files too, found under `/usr/lib/debug` and by debug link; nothing is fetched over a "
      + "network), and for generated code from `/tmp/perf-PID.map`, where the program writes one.",
  ]

  static func commands(_ command: Command) -> String {
    switch command {
    case .watch: "Watch a running program. The word may be left out, and a bare number is the process."
    case .run:
      "Start a program and watch it. The word may be left out before `--`. The program has the terminal, the standard "
        + "streams and the process group; stallwatch ends as it ends. A program that may not be looked into runs on "
        + "unwatched, and one line says so. What it leaves running when it ends is named."
    case .replay:
      "Judge again what `--record` has recorded, with another threshold if one is given. It reads nothing but the file: "
        + "the same file and options give the same output. Stacks are those that were copied while it was recorded, "
        + "where one falls into the stall."
    case .dump: "Print the stack of every thread, now, and end."
    case .doctor:
      "Say what this machine and this user allow, each found out by doing it to programs of its own, and the next "
        + "step. With a process, say also what can be seen of that; its first thread may be held once."
    }
  }

  static let options =
    "A duration needs a unit: `500ms`, `1.5s`, `2m`, `1m30s`. Of a repeated option the last one counts. After `--` no "
    + "word is an option."

  static let signalsIntroduction =
    "A program that was attached to never gets a signal. `run` passes on what another process sends to it; what the "
    + "terminal sends, the program gets by itself."

  static let signals = [
    (
      "SIGINT, SIGTERM",
      "The first one reports a stall that is going on and ends with a summary, the second one ends at once. `run` "
        + "passes them on, once a stall that is going on was captured."
    ),
    (
      "SIGHUP",
      "Opens the file of `-o` anew; without one, ends the watch unless nohup(1) was used. `run` passes it on."
    ),
    ("SIGUSR1", "Dumps the stacks of all threads, 256 at most. `run` passes it on."),
    ("SIGPIPE", "The reader of the reports has gone: ends quietly. With `run` the program runs on."),
    (
      "SIGQUIT, SIGUSR2, SIGCONT, SIGTSTP",
      "As in every program; `run` passes them on. When the terminal stops the program, `run` stops along with it; the "
        + "time until both go on is no stall."
    ),
  ]

  static let environment = [
    (
      "STALLWATCH_LOOP_RULES",
      "A file that replaces the table of functions by which event loops and work are known at first sight. An empty "
        + "file means that everything is learned from waits alone. How it is written stands at the beginning of the "
        + "table in the sources, `LoopRules.txt`."
    ),
    (
      "NO_COLOR, CLICOLOR_FORCE, TERM",
      "Whether text on a terminal is coloured, where `--color` does not say it."
    ),
  ]

  static let permissions = [
    "Needed is root (CAP_SYS_PTRACE), or the same user as the program. Under Yama, "
      + "`/proc/sys/kernel/yama/ptrace_scope` may ask for more: with 1, Ubuntu's default, a running program can only "
      + "be seen in full by root, and `stallwatch run` needs no right; with 2 CAP_SYS_PTRACE is needed; with 3 nobody "
      + "may look into a program.",
    "With less, a program of the same user is watched by the kinds of its waits, or by its states where it is "
      + "protected; there are no stacks then, and no stall is verified. `--cpu-only` watches state and CPU time of "
      + "any process.",
    "The task iterator (`bpf`) needs CAP_BPF and CAP_PERFMON, which root has. Where the file of stallwatch has them "
      + "(`setcap cap_bpf,cap_perfmon=ep`, setcap(8)), everybody who may execute it sees the waits and registers of his "
      + "own programs, and nothing more than without of other users' programs, of protected ones and of memory.",
    "In a container CAP_SYS_PTRACE must be given to the container: `docker run --cap-add=SYS_PTRACE`. `run --user` "
      + "needs CAP_SETUID and CAP_SETGID, which root has.",
    "What is refused says why and what to do next. `stallwatch doctor` tries all of it on programs of its own.",
  ]

  static let effect = [
    "Looking is reading files under `/proc`, or what a BPF task iterator tells: nothing is stopped. No memory of the program is written, no setting "
      + "changed, no descriptor opened in it. No signal is sent, but by `run`: those that it passes on, SIGCONT after a "
      + "stop by the terminal, and SIGTERM (with SIGCONT) after `--timeout`.",
    "To copy the stack of a stalled or busy thread, of others with `--stacks`, and of every thread for a dump, a "
      + "running one is interrupted once by an event of perf_event_open(2), for no longer than a clock tick does. "
      + "One that is stalled or may be busy is interrupted so a hundred times a second at first, then ever more seldom. "
      + "A blocked one is copied without any stop where a BPF task iterator may be loaded (CAP_BPF and CAP_PERFMON); "
      + "`--observer proc` does without it. Others, and running ones where that is refused, are held with ptrace(2), one "
      + "at a time, mostly for 25 to 600 µs, longer on an overloaded machine. Records say for how long, and the summary "
      + "adds up. A thread in a system call that would fail or come back short is not held, "
      + "nor one in state D, one that another process traces, or one that its cgroup has frozen. `--never-stop` "
      + "forbids holding, at the price of shorter stacks where there is no other way; a dump then also runs at the "
      + "lowest priority, nice(2) 19: while all CPUs are busy it takes seconds.",
    "A thread that enters such a call while the hold is on its way has its call started again, as if nothing had "
      + "been; the time limit of that call then begins anew. While a thread is held no debugger can attach to it. If "
      + "stallwatch or its helper dies, the kernel lets the thread go.",
    "Reading a stack can bring back pages that were swapped out. While the list of mappings is read, an mmap(2) of "
      + "the program may wait.",
  ]

  static let examples = [
    (
      "Attach to the only program of that name for a minute",
      "stallwatch --name redis-server --threshold 100ms --duration 1m"
    ),
    (
      "Watch a service through its restarts, and keep the reports as JSON, one object a line",
      "stallwatch --name redis-server --wait --json -o stalls.jsonl"
    ),
    (
      "Let a test run fail with status 10 when it stalls",
      "stallwatch run --fail-on-stall --threshold 200ms -o stalls.txt -- ./run-tests"
    ),
    (
      "See what every thread does, and end the program, when it has not ended after ten minutes",
      "stallwatch run --timeout 10m -o stalls.txt -- ./run-tests"
    ),
    ("What every thread is doing, right now", "stallwatch dump --pid 4242"),
    ("What this user may see on this machine", "stallwatch doctor"),
    ("Complete options and process ids in this bash", "source <(stallwatch --generate bash)"),
  ]

  static let seeAlso = "`gdb`(1), `perf`(1), `strace`(1), `ptrace`(2), `proc`(5), `capabilities`(7)"
}
