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
  ]

  static func commands(_ command: Command) -> String {
    switch command {
    case .watch: "Watch a running program. The word may be left out, and a bare number is the process."
    case .run:
      "Start a program and watch it. The word may be left out before `--`. The program has the terminal, the "
        + "standard streams and the process group; stallwatch ends as it ends."
    case .dump: "Print the stack of every thread, now, and end."
    case .doctor:
      "Say what this machine and this user allow, each found out by doing it to programs of its own, and the next step. "
        + "With a process, say also what can be seen of that; its first thread may be held once."
    }
  }

  static let options =
    "A duration needs a unit: `500ms`, `1.5s`, `2m`, `1m30s`. Of a repeated option the last one counts. After `--` no "
    + "word is an option."

  static let signalsIntroduction =
    "A program that was attached to never gets a signal. `run` passes on what another process sends to it; what "
    + "the terminal sends, the program gets by itself."

  static let signals = [
    (
      "SIGINT, SIGTERM",
      "The first one reports a stall that is going on and ends with a summary, the second one ends at once. `run` "
        + "passes them on."
    ),
    ("SIGHUP", "Opens the file of `-o` anew; without one, ends the watch. `run` passes it on."),
    ("SIGUSR1", "Dumps the stacks of all threads, 256 at most. `run` passes it on."),
    ("SIGPIPE", "The reader of the reports has gone: ends quietly. With `run` the program runs on."),
  ]

  static let permissions = [
    "Needed is root (CAP_SYS_PTRACE), or the same user as the program. Under Yama, `/proc/sys/kernel/yama/ptrace_scope` may ask "
      + "for more: with 1, Ubuntu's default, a running program can only be seen in full by root, and `stallwatch run` "
      + "needs no right; with 2 CAP_SYS_PTRACE is needed; with 3 nobody may look into a program.",
    "With less, a program of the same user is watched by the kinds of its waits, or by its states where it is protected; "
      + "there are no stacks then, and no stall is verified. `--cpu-only` watches state and CPU time of any process.",
    "In a container CAP_SYS_PTRACE must be given to the container: `docker run --cap-add=SYS_PTRACE`. What is refused "
      + "says why and what to do next.",
  ]

  static let effect = [
    "Looking is reading files under `/proc`: nothing is stopped. No memory of the program is written, no signal sent, no "
      + "setting changed, no descriptor opened in it.",
    "To copy the stack of a stalled or busy thread, and of every thread for a dump, that one thread is held with "
      + "ptrace(2), mostly for 25 to 600 µs, longer on an overloaded machine. Every report says for how long. A thread "
      + "in a system call that would fail or come back short is not held. `--never-stop` forbids holding, at the price "
      + "of shorter stacks.",
    "A thread that enters such a call while the hold is on its way has its call started again, as if nothing had been; "
      + "the time limit of that call then begins anew. While a thread is held no debugger can attach to it.",
  ]

  static let examples = [
    (
      "Attach to the only program of that name for a minute",
      "stallwatch --pid \"$(pgrep --exact redis-server)\" --threshold 100ms --duration 1m"
    ),
    (
      "Run a program and keep the reports as JSON, one object a line",
      "stallwatch run --json -o stalls.jsonl -- ./app"
    ),
    (
      "Let a test run fail with status 10 when it stalls",
      "stallwatch run --fail-on-stall --threshold 200ms -o stalls.txt -- ./run-tests"
    ),
    ("What every thread is doing, right now", "stallwatch dump --pid 4242"),
    ("Complete options and process ids in this bash", "source <(stallwatch --generate bash)"),
  ]

  static let seeAlso = "`gdb`(1), `perf`(1), `strace`(1), `ptrace`(2), `proc`(5), `capabilities`(7)"
}
