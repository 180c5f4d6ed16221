// What is seen of a program with which rights, and what is said of the rest.

import FoundationEssentials
import Glibc
import Linux
import TestSupport
import Testing

@Suite(.serialized, .enabled(if: RightsLab.isPossible, "needs root and mounts of its own"))
struct RightsTests {
  /// Watches it through one stall, and returns the header and what was said of the end of the stall.
  private func stall(
    of target: borrowing TargetProcess, by command: String
  ) throws -> (attach: [String: JSONValue], ended: [String: JSONValue]) {
    var watch = try WatchRun(shell: command)
    let attach = try watch.next("attach")
    target.signal(SIGUSR1)
    return (attach, try watch.next("stall", state: "ended"))
  }

  /// Also without CAP_CHECKPOINT_RESTORE, which `map_files` needs.
  @Test("SYM-26: a program of the same user is seen in full without any capability")
  func programOfTheSameUserIsSeenInFull() throws {
    let lab = try RightsLab()
    let target = try lab.start("stalling-loop epoll sleep", as: .nobody)
    let (attach, ended) = try stall(
      of: target, by: lab.command("--json --pid \(target.processID)", as: .nobody))
    #expect(attach["observer"] == .string("proc") && attach.missingBesidesIterator.isEmpty)
    #expect(ended["verified"] == .boolean(true))
    #expect(ended.symbols.contains("stall_by_sleeping") && ended.symbols.contains("main"))
  }

  @Test(
    "PERM-01, PERM-02: where ptrace is restricted, the scope and the next step are told and states are watched",
    arguments: [
      (1, .nobody, "children only; to see them: stallwatch run -- COMMAND, or sudo"),
      (2, .nobody, "needs CAP_SYS_PTRACE; to see them: sudo stallwatch"),
      (3, .nobody, "root neither; to see them: boot"),
    ] as [(Int, Person, String)])
  func yamaLeavesTheKindsOfWaits(_ scope: Int, _ person: Person, _ why: String) throws {
    let lab = try RightsLab()
    let target = try lab.start("stalling-loop poll sleep", as: .nobody)
    let (attach, ended) = try stall(
      of: target,
      by: lab.command(
        "--json --pid \(target.processID)", as: person,
        surroundings: RightsLab.yama(scope, hidingCallsOf: target.processID, in: lab),
        launcher: "\(lab.targetProgram) deny ptrace 1"))
    #expect(attach["observer"] == .string("proc-kinds"))
    #expect(attach.missing.contains("ptrace_scope is \(scope)") && attach.missing.contains(why))
    #expect(ended["proof"] == .string("other-kind") && ended["verified"] == .boolean(false))
    #expect(ended["cause"]?.object["kind"] == .string("wait.sleep"))
    #expect(ended.missingStack?.contains("may not be looked into") == true)
    let duration = try #require(ended.number("duration_ms"))
    #expect(duration >= 790)
  }

  /// Idle in each of the waits of which the kernel tells the kind, and in some of which it does not.
  @Test(arguments: ["epoll", "select", "pause", "inotify", "condition", "sleep-loop", "frame-loop"])
  func idleProgramHasNoStallThoughOnlyKindsAreSeen(_ kind: String) throws {
    let lab = try RightsLab()
    let target = try lab.start("idle \(kind)", as: .nobody)
    var watch = try WatchRun(
      shell: lab.command(
        "--json --threshold 100ms --duration 1s --pid \(target.processID)", as: .nobody,
        surroundings: RightsLab.hiding(["task/\(target.processID)/syscall"], of: target.processID, in: lab)))
    try watch.readToEnd()
    #expect(watch.records(of: "attach").first?["observer"] == .string("proc-kinds"))
    #expect(watch.records(of: "stall").isEmpty && watch.records(of: "summary").count == 1)
  }

  @Test("PERM-05: a protected program of the same user shows its states, and why no more")
  func protectedProgramShowsItsStatesOnly() throws {
    let lab = try RightsLab()
    let target = try lab.start("protected stalling-loop epoll compute", as: .nobody)
    let (attach, ended) = try stall(
      of: target, by: lab.command("--json --threshold 200ms --pid \(target.processID)", as: .nobody))
    #expect(attach["observer"] == .string("proc-states") && attach["capture_ways"] == .array([]))
    #expect(attach.missing.contains("it is protected") && attach.missing.contains("sudo stallwatch --pid"))
    #expect(ended["proof"] == .string("never-slept") && ended["verified"] == .boolean(false))
    #expect(ended.missingStack?.contains("may not be looked into") == true)
  }

  @Test("PERM-04: root without capabilities is told which one is missing, and not to use sudo")
  func rootWithoutCapabilitiesIsToldWhichOneIsMissing() throws {
    let lab = try RightsLab()
    let target = try lab.start("stalling-loop epoll compute", as: .root)
    let (attach, ended) = try stall(
      of: target,
      by: lab.command("--json --threshold 200ms --pid \(target.processID)", as: .rootWithoutCapabilities))
    #expect(attach["observer"] == .string("proc-states"))
    #expect(attach.missing.contains("root without CAP_SYS_PTRACE") && !attach.missing.contains("sudo"))
    #expect(ended["proof"] == .string("never-slept"))
  }

  @Test(arguments: [(Person.rootWithoutCapabilities, Person.nobody), (.nobody, .root)])
  func programOfSomeoneElseIsRefused(_ watcher: Person, _ owner: Person) throws {
    let lab = try RightsLab()
    let target = try lab.start("idle epoll", as: owner)
    let (output, status) = try shell(lab.command("--pid \(target.processID) 2>&1", as: watcher))
    #expect(status == .exited(4))
    #expect(output.contains("its state and CPU can be seen, its waits and stacks cannot"))
    #expect(output.hasSuffix("(or --cpu-only)"))
    let isNobody = watcher == .nobody
    #expect(output.contains("CAP_SYS_PTRACE") != isNobody && output.contains("sudo") == isNobody)
  }

  @Test func everybodyMayWatchStateAndCPU() throws {
    let lab = try RightsLab()
    let target = try lab.start("spin", as: .root)
    let arguments = "--cpu-only --json --cpu-window 300ms --cpu-threshold 2 --pid \(target.processID)"
    var watch = try WatchRun(shell: lab.command(arguments, as: .nobody))
    let attach = try watch.next("attach")
    #expect(attach["observer"] == .string("proc-cpu") && attach["capture_ways"] == .array([]))
    let busy = try watch.next("cpu")
    #expect(busy.missingStack?.contains("--cpu-only") == true)
  }

  @Test func stallsAreNotJudgedWhereOnlyCPUIsWanted() throws {
    let lab = try RightsLab()
    let target = try lab.start("stalling-loop epoll sleep", as: .root)
    let command = lab.command("--cpu-only --duration 1200ms --pid \(target.processID) 2>&1", as: .root)
    var watch = try WatchRun(shell: command)
    #expect(try watch.readLine().contains("stalls are not judged (--cpu-only)"))
    target.signal(SIGUSR1)
    var rest: [String] = []
    while let line = try? watch.readLine() { rest.append(line) }
    #expect(!rest.contains { $0.contains("STALL") || $0.contains("loop found") })
    #expect(rest.contains { $0.hasSuffix("stalls were not judged") })
  }

  /// EPERM as containers answer, ENOSYS as some sandboxes do.
  @Test(
    "PERM-04, PERM-11: where process_vm_readv is refused, memory is read another way, and it is told",
    arguments: [EPERM, ENOSYS])
  func memoryIsReadAnotherWay(_ error: Int32) throws {
    let lab = try RightsLab()
    let target = try lab.start("stalling-loop poll sleep", as: .nobody)
    let (attach, ended) = try stall(
      of: target,
      by: lab.command(
        "--json --pid \(target.processID)", as: .nobody,
        launcher: "\(lab.targetProgram) deny process_vm_readv \(error)"))
    #expect(attach.missing.contains("process_vm_readv") && attach.missing.contains("/proc/PID/mem"))
    #expect(ended["verified"] == .boolean(true))
    #expect(ended.symbols.contains("stall_by_sleeping") && ended.symbols.contains("main"))
  }

  /// Nothing says in advance that it will be refused, and each attempt may be a line in the kernel's log.
  @Test("PERM-08: a hold that is refused without a reason is tried for once, not at every capture")
  func refusedHoldIsTriedForSeldom() throws {
    let lab = try RightsLab()
    let target = try lab.start("stalling-loop epoll sleep", as: .nobody)
    var watch = try WatchRun(
      shell: "exec \(Person.nobody.rawValue) \(lab.targetProgram) count-refused ptrace \(lab.program) "
        + "--json --threshold 50ms --count 1 --pid \(target.processID)")
    let attach = try watch.next("attach")
    #expect(
      attach.missing.contains("seccomp filter")
        && attach["capture_ways"]?.array.contains(.string("ptrace")) == false)
    target.signal(SIGUSR1)
    let ended = try watch.next("stall", state: "ended")
    // At 50, 100, 200, 400 and 800 ms.
    #expect(watch.records(of: "stall").count >= 4)
    #expect(ended["verified"] == .boolean(true) && ended.symbols.contains("stall_by_sleeping"))
    var last = try watch.readLine()
    while !last.hasPrefix("refused") { last = try watch.readLine() }
    #expect(last == "refused 1")
  }
}
