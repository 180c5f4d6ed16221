// The one place where a refusal becomes its remedy: why a process cannot be watched, and what to do next.

internal import CommandLineOptions
internal import Glibc
internal import Linux
internal import Observation
internal import StallCore

enum Refusal {
  static func noProcess(_ id: Int32) -> ProgramFailure {
    if let name = try? readPseudoFile("/proc/\(id)/comm") { return hasEnded(id, ByteString(name.dropLast())) }
    // Signal 0 reaches nobody: it only asks whether somebody is there, kill(2).
    if kill(id, 0) == 0 || errno == EPERM { return isHidden(id) }
    return ProgramFailure(
      code: .noSuchProcess, text: "there is no process \(id)",
      next: "`pgrep NAME` prints the ids of a program")
  }

  /// proc(5), "hidepid".
  private static func isHidden(_ id: Int32) -> ProgramFailure {
    ProgramFailure(
      code: .notPermitted, text: "process \(id) is there, but /proc does not show it to you (hidepid)",
      next: getuid() == 0
        ? "look from where /proc is mounted without hidepid" : "sudo stallwatch --pid \(id)")
  }

  static func hasEnded(_ id: Int32, _ name: ByteString) -> ProgramFailure {
    ProgramFailure(
      code: .noSuchProcess,
      text: "\(name.escaped) (pid \(id)) has ended; only its status is left, for its parent to take")
  }

  static func isOurselves(_ id: Int32) -> ProgramFailure {
    ProgramFailure(
      code: .wrongUsage, text: "\(id) is stallwatch itself", next: "the id of another process")
  }

  static func isThread(_ id: Int32, of process: Int32) -> ProgramFailure {
    let name =
      (try? readPseudoFile("/proc/\(process)/comm")).map { ByteString($0.dropLast()).escaped } ?? "process"
    return ProgramFailure(
      code: .wrongUsage, text: "\(id) is a thread of \(name) (\(process)), not a process",
      next: "stallwatch --pid \(process) --thread \(id)")
  }

  static func noThread(_ id: Int32, of process: Int32, _ name: ByteString) -> ProgramFailure {
    ProgramFailure(
      code: .noSuchProcess, text: "\(name.escaped) (pid \(process)) has no thread \(id)",
      next: "`stallwatch dump --pid \(process)` shows all its threads with their ids")
  }

  static func noThreadNamed(_ pattern: String, of process: Int32, _ name: ByteString) -> ProgramFailure {
    ProgramFailure(
      code: .noSuchProcess,
      text: "\(name.escaped) (pid \(process)) has no thread named \(ByteString(pattern).escaped)",
      next: "`stallwatch dump --pid \(process)` shows all its threads with their names")
  }

  static func cannotBecome(_ user: String, _ error: Errno) -> ProgramFailure {
    let name = ByteString(user).escaped
    let own = geteuid()
    return ProgramFailure(
      code: .runFailed,
      text: "cannot become user \(name) (\(error.text)): you are \(UserAccount.name(of: own))",
      next: own == 0
        ? "give it CAP_SETUID and CAP_SETGID (docker run --cap-add)"
        : "sudo stallwatch run --user \(name) -- COMMAND")
  }

  static func isKernelThread(_ id: Int32, _ name: ByteString) -> ProgramFailure {
    ProgramFailure(
      code: .notPermitted,
      text: "\(id) (\(name.escaped)) is a thread of the kernel: it has no loop and nothing to unwind",
      next: (getuid() == 0 ? "cat /proc/\(id)/stack shows where it is" : "the id of a program")
        + " (or --cpu-only)")
  }

  /// Without one a loop that never sleeps is not seen to come round.
  static func ofBreakpoint(_ reason: ExecutionBreakpoint.Refusal) -> (why: String, next: String?) {
    switch reason {
    case .allTaken: return ("all four are taken, perhaps by a debugger", nil)
    case .threadEnded: return ("the program has ended", nil)
    case .unsupported(let error): return ("not on this machine (\(error.text)); Linux 5.13 or newer", nil)
    case .outOfResources(let error): return (error.text, error.meansNoDescriptors ? "ulimit -n 1024" : nil)
    case .notAllowed(let error): return ofPerfEvent(error)
    }
  }

  static func ofPerfEvent(_ error: Errno) -> (why: String, next: String?) {
    guard error.meansNotAllowed, let level = perfEventParanoia, level > 2 else {
      return ("refused (\(error.text))", nil)
    }
    return ("kernel.perf_event_paranoid is \(level)", "sudo sysctl kernel.perf_event_paranoid=2")
  }

  static func ofTaskIterator(_ refusal: TaskIteratorRefusal) -> (why: String, next: String?) {
    guard case .notAllowed(let missing) = refusal, !missing.isEmpty else { return (refusal.text, nil) }
    let added = missing.map { "--cap-add=\($0.name)" }.joined(separator: " ")
    return (
      refusal.text,
      getuid() == 0 ? "give it these capabilities (docker run \(added))" : "sudo stallwatch --pid PID"
    )
  }

  static func noHeartbeat(_ name: HeartbeatName, _ finding: HeartbeatFinding) -> ProgramFailure {
    let (clause, next) = ofHeartbeat(finding)
    return ProgramFailure(
      code: .wrongUsage, text: "--heartbeat \(name.text.escaped) \(clause)", next: next)
  }

  /// What the search for `--heartbeat` came to: a clause after its name, and what to try where it was not found.
  static func ofHeartbeat(_ finding: HeartbeatFinding) -> (clause: String, next: String?) {
    func listed(_ names: [ByteString]) -> String { names.map(\.escaped).joined(separator: ", ") }
    switch finding {
    case .found(_, let width, let place): return ("is \(place.escaped), \(width) bytes", nil)
    case .several(let places): return ("may be any of \(listed(places))", "--heartbeat with one of these")
    case .unusable(let why): return (ByteString(why).escaped, "another variable")
    case .unknown(let nearest) where nearest.isEmpty:
      return (
        "is in no symbol table of the program and its libraries",
        "`nm PROGRAM | grep ' [BbDd] '` lists its variables"
      )
    case .unknown(let nearest):
      return ("is not found; \(listed(nearest))?", "--heartbeat with the name that was meant")
    case .noModule(let modules):
      return ("is in a module that is not loaded (yet); loaded are \(listed(modules))", nil)
    case .failed(let why): return ("was not found: \(ByteString(why).escaped)", nil)
    }
  }

  private static let insteadOfPing = "--heartbeat or the breakpoint tell as much"

  /// Why `--ping` leaves a loop alone, and what would help: one of another library than those that have a wake-up, or of
  /// nobody knows which.
  static func ofPing(atLoopOf family: String?) -> (why: String, next: String?) {
    let why =
      family.map { "no wake-up of \($0) is known that may be raised, as there is of " }
      ?? "it is of no library whose wake-up may be raised, as is that of "
    return (why + "GLib, libuv and libdispatch", insteadOfPing)
  }

  /// The same of a loop that should have one.
  static func ofPing(_ refusal: WakeUpRefusal, _ process: Int32) -> (why: String, next: String?) {
    let heartbeat = insteadOfPing
    switch refusal {
    case .notAllowed(let error) where error == .notSupported:
      return ("pidfd_getfd needs Linux 5.6", heartbeat)
    case .notAllowed(let error) where error.meansNotAllowed:
      var facts = RightsFacts(process)
      facts.areWaitsSeen = true
      let denial = Denial(facts)
      return ("its descriptor is refused (\(error.text)): \(denial.why)", denial.next)
    case .notAllowed(let error): return (error.text, nil)
    case .unreadable: return ("what it waits on cannot be read", nil)
    case .noneFound: return ("it waits on no eventfd, which would be its wake-up", heartbeat)
    case .several(let count):
      return ("it waits on \(count) eventfds, and nothing tells which one is its own wake-up", heartbeat)
    case .neverTaken: return ("it never empties its wake-up (libuv 1.49 and newer)", heartbeat)
    case .isSemaphore: return ("the eventfd that it waits on is no wake-up of a loop", heartbeat)
    case .kernelTooOld: return ("whether its eventfd is a semaphore is told from Linux 6.5 on", heartbeat)
    case .replaced, .isRaised: return ("its wake-up changes all the time", nil)
    }
  }

  /// From 3 on a patch of Debian and Ubuntu keeps every event from ordinary users.
  private static var perfEventParanoia: UInt64? {
    let text = try? readPseudoFile("/proc/sys/kernel/perf_event_paranoid")
    var position = 0
    return text.flatMap { $0.span.decimal(at: &position) }
  }

  /// What was asked for could not be looked at, for this reason.
  static func notPermitted(_ id: Int32, _ error: Errno, command: Command = .watch) -> ProgramFailure {
    let facts = RightsFacts(id)
    guard error.meansNotAllowed else {
      let next = error.meansNoDescriptors ? "ulimit -n 1024" : nil
      return ProgramFailure(
        code: .internalFailure, text: "\(facts.name.escaped) (pid \(id)) cannot be watched: \(error.text)",
        next: next)
    }
    if facts.target == nil { return isHidden(id) }
    return notPermitted(facts, command)
  }

  static func notPermitted(_ facts: RightsFacts, _ command: Command) -> ProgramFailure {
    let denial = Denial(facts, command)
    let who = "\(facts.name.escaped) (pid \(facts.process))"
    let next = command == .dump ? denial.next : denial.next + "      (or --cpu-only)"
    let rest =
      command == .dump
      ? "its stacks cannot be seen" : "its state and CPU can be seen, its waits and stacks cannot"
    return ProgramFailure(code: .notPermitted, text: "\(who): \(rest): \(denial.why)", next: next)
  }
}

/// Why the kernel refuses to let us look into a process, and the one step that would help.
struct Denial: Equatable {
  var why: String
  var next: String

  /// In the order in which one reason makes the next one idle. Hints are given only where the facts fit.
  init(_ facts: RightsFacts, _ command: Command = .watch) {
    self =
      (facts.areWaitsSeen ? Self.byTracer(facts) : Self.byRights(facts, Self.retry(facts, command)))
      ?? Self.bySurroundings(facts)
  }

  private init(_ why: String, _ next: String) { (self.why, self.next) = (why, next) }

  private static func retry(_ facts: RightsFacts, _ command: Command) -> String {
    "sudo stallwatch \(command == .dump ? "dump " : "")--pid \(facts.process)"
  }

  private static let givingCapability = "give it CAP_SYS_PTRACE (docker run --cap-add=SYS_PTRACE)"

  /// A process has one tracer at most.
  private static func byTracer(_ facts: RightsFacts) -> Denial? {
    facts.tracer == 0
      ? nil : Denial("process \(facts.tracer) is tracing it", "end that debugger, or do without stacks")
  }

  /// `cap_ptrace_access_check` and `__ptrace_may_access` ask first, then Yama.
  private static func byRights(_ facts: RightsFacts, _ retry: String) -> Denial? {
    if facts.yamaScope == 3 {
      return Denial(
        "kernel.yama.ptrace_scope is 3: nobody may look into a program until the next boot, root neither",
        "boot with another ptrace_scope")
    }
    if facts.mayTraceAll { return byFiles(facts, retry) }
    if facts.own.user == 0 { return Denial("you are root without CAP_SYS_PTRACE", givingCapability) }
    if facts.isHidden { return Denial("/proc does not show it to you any more (hidepid)", retry) }
    if let target = facts.target, facts.isSomeoneElses {
      return Denial("it belongs to \(spoken(target.user)) and you are \(spoken(facts.own.user))", retry)
    }
    if facts.isProtected {
      return Denial("it is protected (setuid, file capabilities, or not dumpable)", retry)
    }
    if let target = facts.target, target.capabilities & ~facts.own.capabilities != 0 {
      return Denial("it has capabilities that you have not", retry)
    }
    switch facts.yamaScope {
    case 1:
      return Denial(
        "kernel.yama.ptrace_scope is 1, which allows children only", "stallwatch run -- COMMAND, or \(retry)")
    case 2: return Denial("kernel.yama.ptrace_scope is 2, which needs CAP_SYS_PTRACE", retry)
    default: return nil
    }
  }

  private static func byFiles(_ facts: RightsFacts, _ retry: String) -> Denial? {
    guard let target = facts.target, facts.isSomeoneElses, !facts.mayReadFilesOfOthers else { return nil }
    return Denial(
      "its files in /proc are for \(spoken(target.user)) alone, and you have no CAP_DAC_READ_SEARCH",
      facts.own.user == 0 ? "give it CAP_DAC_READ_SEARCH (docker run --cap-add=DAC_READ_SEARCH)" : retry)
  }

  private static func bySurroundings(_ facts: RightsFacts) -> Denial {
    if !facts.areWaitsSeen, facts.isInUserNamespace, facts.mayTraceAll {
      return Denial(
        "your CAP_SYS_PTRACE counts within this user namespace only",
        "stallwatch from outside of the container")
    }
    if facts.areWaitsSeen, facts.isFiltered {
      return Denial(
        "a seccomp filter on stallwatch refuses the system calls for it",
        "start it without that filter (docker run --security-opt seccomp=unconfined)")
    }
    let labels = [("stallwatch", facts.own.label), ("the program", facts.target?.label)].compactMap {
      who, label in label.flatMap { $0 == "unconfined" ? nil : "\(who) is \"\($0.escaped)\"" }
    }
    guard labels.isEmpty else {
      return Denial(
        "a security module refuses it (\(labels.joined(separator: ", ")))",
        "the kernel log (dmesg) names the rule")
    }
    return Denial("the kernel does not say why", "the kernel log (dmesg) may tell")
  }

  private static func spoken(_ user: UInt32) -> String {
    UserName.of(user).map { ByteString($0).escaped } ?? "user \(user)"
  }
}
