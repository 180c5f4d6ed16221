// Programs that cannot be looked into for other reasons than their user, and files that are missing one by one.

import FoundationEssentials
import Glibc
import Linux
import TestSupport
import Testing

@Suite(.serialized, .enabled(if: RightsLab.isPossible, "needs root and mounts of its own"))
struct RightsTroubleTests {
  /// Each file is one ability less, never the end of all.
  @Test(
    "PERM-09: an unreadable file costs one ability",
    arguments: [
      ["maps", "task/TID/maps"], ["task/TID/wchan", "task/TID/sched"], ["cmdline", "comm", "task/TID/comm"],
    ])
  func unreadableFileCostsOneAbility(_ files: [String]) throws {
    let lab = try RightsLab()
    let target = try lab.start("stalling-loop epoll sleep", as: .nobody)
    let process = target.processID
    let hidden = files.map { $0.replacing("TID", with: "\(process)") }
    var watch = try WatchRun(
      shell: lab.command(
        "--json --threshold 200ms --pid \(process)", as: .nobody,
        surroundings: RightsLab.hiding(hidden, of: process, in: lab)))
    _ = try watch.next("attach")
    target.signal(SIGUSR1)
    let ended = try watch.next("stall", state: "ended")
    #expect(ended["verified"] == .boolean(true))
    #expect(ended["cause"]?.object["kind"] == .string("wait.sleep"))
  }

  @Test(arguments: [true, false]) func tracedProgramIsWatchedAndItsTracerNamed(maySample: Bool) throws {
    let canSample = maySample && isSamplingAllowed
    var tracer = try TargetProcess.start("traced")
    let process = try tracer.readLine()
    let launcher = maySample ? "" : "\(builtProduct("TestTarget")) deny perf_event_open 13"
    var watch = try WatchRun(
      shell: "exec \(launcher) \(builtProduct("stallwatch")) --json --pid \(process) --observer proc "
        + "--cpu-window 300ms --cpu-threshold 2")
    let attach = try watch.next("attach")
    let ways = (canSample ? ["perf"] : []) + ["syscall-file"]
    #expect(
      attach["observer"] == .string("proc") && attach["capture_ways"] == .array(ways.map { .string($0) }))
    #expect(attach.missing.contains("process \(tracer.processID) is tracing it"))
    let cpu = try watch.next("cpu")
    if canSample {
      #expect(cpu.missingStack == nil)
    } else {
      #expect(cpu.missingStack?.contains("is traced by process \(tracer.processID)") == true)
    }
  }

  /// Both have them from their files, and a watcher that is not root has no way to get lost ones again.
  @Test(
    "PERM-06: a program with capabilities is seen by a watcher with more, who keeps them all",
    .enabled(if: unsafe access("/usr/sbin/setcap", X_OK) == 0, "needs setcap"))
  func watcherKeepsItsCapabilities() throws {
    let lab = try RightsLab()
    let given =
      "setcap cap_sys_ptrace+ep \(lab.program) && setcap cap_net_bind_service+ep \(lab.targetProgram)"
    #expect(try shell("PATH=$PATH:/usr/sbin; \(given)").status == .exited(0))
    let target = try lab.start("stalling-loop epoll sleep", as: .nobody)
    var watch = try WatchRun(
      shell: lab.command("--json --threshold 100ms --cooldown 0 --pid \(target.processID)", as: .nobody))
    #expect(try watch.next("attach").missingBesidesIterator.isEmpty)
    for _ in 1...2 {
      target.signal(SIGUSR1)
      let ended = try watch.next("stall", state: "ended")
      #expect(ended.symbols.contains("stall_by_sleeping"))
      let status = String(
        decoding: try readPseudoFile("/proc/\(watch.processID)/status"), as: UTF8.self)
      #expect(status.contains("CapEff:\t0000000000080000") && status.contains("Uid:\t65534\t65534\t65534"))
    }
  }

  @Test(arguments: [1, 2]) func programThatProcHidesIsNotSaidToBeNone(_ level: Int) throws {
    let lab = try RightsLab()
    let target = try lab.start("idle epoll", as: .root)
    let hides = "mount -t proc -o hidepid=\(level) proc /proc"
    let (output, status) = try shell(
      lab.command("--pid \(target.processID) 2>&1", as: .nobody, surroundings: [hides]))
    #expect(status == .exited(4))
    #expect(output.contains("is there, but /proc does not show it to you (hidepid)"))
    #expect(output.contains("next: sudo stallwatch --pid \(target.processID)"))
  }

  @Test(arguments: [("", "it is protected"), ("-o hidepid=2", "/proc does not show it to you")])
  func rightsThatGoAndComeAreNoticed(_ mount: String, _ why: String) throws {
    let lab = try RightsLab()
    let target = try lab.start("changing-rights", as: .nobody)
    var watch = try WatchRun(
      shell: lab.command(
        "--json --threshold 100ms --pid \(target.processID)", as: .nobody,
        surroundings: ["mount -t proc \(mount) proc /proc"]))
    #expect(try watch.next("attach").missingBesidesIterator.isEmpty)
    target.signal(SIGUSR1)
    let lost = try watch.next("notice", kind: "rights.changed")
    #expect(lost["text"]?.string?.contains(why) == true, "\(lost)")
    target.signal(SIGUSR1)
    let back = try watch.next("notice", kind: "rights.changed")
    #expect(back["text"] == .string("what it waits for can be seen now"))
    #expect(watch.records(of: "stall").isEmpty)
    target.signal(SIGTERM)
    try watch.readToEnd()
    #expect(watch.records(of: "exit").count == 1)
  }

  /// A pid namespace of our own has no thread of the kernel.
  @Test("X-02: a thread of the kernel is refused, but its CPU time is watched")
  func threadOfTheKernelIsRefusedButItsTimeIsNot() throws {
    let stat = (try? readPseudoFile("/proc/2/stat")).flatMap { ThreadStat($0.span) }
    guard stat?.isKernelThread == true else { return print("skipped: no thread of the kernel here") }
    let (output, status) = try shell("stallwatch --pid 2 2>&1")
    #expect(status == .exited(4))
    #expect(output.contains("nothing to unwind") && output.contains("cat /proc/2/stack"))
    #expect(try shell("stallwatch --pid 2 --cpu-only --duration 100ms").status == .exited(0))
  }

  /// By version 1 or 2, whichever is there and lets us.
  @Test func frozenProgramGetsNoStackByForce() throws {
    guard let freezer = Freezer() else { return }
    let target = try TargetProcess.start("idle", "poll")
    try freezer.freeze(target.processID)
    // Frozen it could not even be killed.
    defer { freezer.thaw() }
    let (output, status) = try shell("stallwatch dump --pid \(target.processID)")
    #expect(status == .exited(0))
    #expect(output.contains("poll") && output.contains("target stopped 0 µs"))
  }
}
