// The options of stallwatch, each once.

private let watching: [Command] = [.watch, .run]
private let attaching: [Command] = [.watch, .dump, .doctor]
private let judging: [Command] = [.watch, .run, .replay]
private let stacking: [Command] = [.watch, .run, .dump]
private let reporting: [Command] = [.watch, .run, .replay, .dump]
private let everywhere = Command.allCases

package let optionTable: [OptionDefinition] = [
  OptionDefinition(
    "pid", short: "p", for: attaching,
    .read("PID", into: \.target) { (text) throws(ValueProblem) in .process(try readProcessID(text)) },
    "the process to look at; the bare number will do"),
  OptionDefinition(
    "name", for: attaching,
    .read("NAME", into: \.target) { (text) throws(ValueProblem) in .named(try readName(text)) },
    "the process of this name, or that runs a file of this name"),
  OptionDefinition(
    "wait", for: [.watch], .set(\.wait, to: true),
    "wait until there is one of that --name, and for the next one when it ends"),
  OptionDefinition(
    "user", for: [.run], .read("NAME", into: \.user) { (text) in text }, "start the program as this user"),
  OptionDefinition(
    "timeout", for: [.run], .read("DUR", into: \.timeout, by: readSeconds),
    "after this time show what every thread does, and send SIGTERM"),
  OptionDefinition(
    "thread", for: [.watch, .run, .dump],
    .read("SEL", into: \.thread) { (text) throws(ValueProblem) in try readThread(text) },
    "auto (whichever runs the loop), main, all, a thread id, or name:GLOB"),
  OptionDefinition(
    "home", for: judging, .read("SITE", into: \.home) { (text) throws(ValueProblem) in try readHome(text) },
    "where the loop parks: epoll:7, poll, fd:5, accept:3, sleep, …"),
  OptionDefinition(
    "heartbeat", for: watching,
    .read("SYMBOL", into: \.heartbeat) { (text) throws(ValueProblem) in try readHeartbeat(text) },
    "a variable that the loop counts up; also MODULE:SYMBOL, MODULE+0xN"),
  OptionDefinition(
    "ping", for: watching, .set(\.ping, to: true),
    "write to the wake-up of a known loop, to see whether it comes round"),
  OptionDefinition(
    "threshold", short: "t", for: judging,
    .read("DUR", default: "500ms", into: \.threshold, by: readThreshold),
    "a stall is this long; at least 10ms"),
  OptionDefinition(
    "cpu-threshold", for: watching, .read("PCT", default: "70", into: \.cpuThreshold, by: readPercent),
    "a thread is busy above this share of one core; 0: off"),
  OptionDefinition(
    "cpu-window", for: watching, .read("DUR", default: "3s", into: \.cpuWindow, by: readSeconds),
    "the time over which a thread has to be that busy"),
  OptionDefinition(
    "interval", for: watching, .read("DUR", into: \.interval, by: readInterval),
    "distance of looks while alert; at most a third of the threshold"),
  OptionDefinition(
    "cooldown", for: judging, .read("DUR", default: "5s", into: \.cooldown, by: readCooldown),
    "distance of reports of one place, doubled each time; 0: all"),
  OptionDefinition(
    "watchdog", for: judging, .set(\.watchdog, to: true),
    "launch 20s, resume, suspend 10s, quit 6s, background 3m"),
  OptionDefinition(
    "phase", for: judging,
    .value(name: "NAME=DUR", default: nil) { (text, options) throws(ValueProblem) in
      let (phase, threshold) = try readPhase(text)
      options.phases[phase] = threshold
    },
    "the threshold of one phase of the program's life, as above"),
  OptionDefinition(
    "probe", for: watching,
    .read("URL", into: \.probe) { (text) throws(ValueProblem) in try readProbe(text) },
    "ask the program: http://localhost:80/, tcp://127.0.0.1:80, unix:/PATH"),
  OptionDefinition(
    "stacks", for: watching, .read("WHICH", default: "stalled", into: \.stacks, by: readChoice),
    "of a stall: stalled, busy (and lock holders), or all"),
  OptionDefinition(
    "max-frames", for: stacking, .read("N", default: "256", into: \.maxFrames, by: readFrameCount),
    "the most frames of one stack"),
  OptionDefinition(
    "never-stop", for: stacking, .set(\.neverStop, to: true),
    "never hold a thread still to copy its stack"),
  OptionDefinition(
    "no-breakpoint", for: watching, .set(\.noBreakpoint, to: true),
    "set no breakpoint on the loop: its debug registers are left alone"),
  OptionDefinition(
    "observer", for: stacking, .read("WHICH", default: "auto", into: \.observer, by: readChoice),
    "look through proc (files), bpf (the task iterator), or auto"),
  OptionDefinition(
    "cpu-only", for: watching, .set(\.cpuOnly, to: true),
    "state and CPU time only: no stalls, no stacks, no rights needed"),
  OptionDefinition(
    "symbols", for: stacking, .read("WHICH", default: "full", into: \.symbols, by: readChoice),
    "none; fast: names alone; full: lines and inlined calls too"),
  OptionDefinition(
    "json", for: reporting, .set(\.outputKind, to: .json),
    "one JSON object a line instead of text"),
  OptionDefinition(
    "output", short: "o", for: reporting, .read("FILE", into: \.output, by: readOutput),
    "write reports here; - is standard output, fd:3 a descriptor"),
  OptionDefinition(
    "record", for: watching, .read("FILE", into: \.record, by: readRecord),
    "record what is seen here, for `stallwatch replay`"),
  OptionDefinition(
    "duration", short: "d", alias: "for", for: watching, .read("DUR", into: \.duration, by: readSeconds),
    "stop watching after this time"),
  OptionDefinition(
    "count", for: judging, .read("N", into: \.count, by: readStallCount),
    "stop watching after this many ended stalls"),
  OptionDefinition(
    "fail-on-stall", for: judging, .set(\.failOnStall, to: true),
    "exit with 10 if verified stalls were seen"),
  OptionDefinition(
    "color", for: reporting, .read("WHEN", default: "auto", into: \.color, by: readChoice),
    "auto, always or never"),
  OptionDefinition(
    "quiet", short: "q", for: reporting, .set(\.verbosity, to: .quiet), "reports only"),
  OptionDefinition(
    "verbose", short: "v", for: reporting, .set(\.verbosity, to: .verbose), "all frames and evidence"),
  OptionDefinition(
    "generate", for: everywhere,
    .read("WHAT", into: \.generated) { (text) throws(ValueProblem) in .some(try readChoice(text)) },
    "print the manual page (man) or completions (bash, zsh, fish)"),
  OptionDefinition("version", short: "V", for: everywhere, .version, "print the version"),
  OptionDefinition("help", short: "h", for: everywhere, .help, "print this"),
]
