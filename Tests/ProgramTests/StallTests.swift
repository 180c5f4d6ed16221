// The main job, end to end: real loops, real stalls, each reported once with its duration and its stack.

import FoundationEssentials
import Glibc
import Linux
import TestSupport
import Testing

@Suite(.serialized) struct StallTests {
  @Test(
    "PT-27, OUT-06: a stall is reported once, with times, cause and stack",
    arguments: [
      ("epoll", "sleep", "wait.sleep"), ("poll", "read", "io.pipe"), ("select", "lock", "lock.mutex"),
      ("epoll", "compute", "cpu."),
    ])
  func stallIsReportedOnceWithTimesCauseAndStack(_ loop: String, _ kind: String, _ cause: String) throws {
    var target = try TargetProcess.start("stalling-loop", loop, kind)
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)"])
    _ = try watch.next("notice", kind: "loop.found")
    target.signal(SIGUSR1)
    let ended = try watch.next("stall", state: "ended")
    let truth = try target.readLine().split(separator: " ").compactMap { Int64($0) }
    let seconds = Double(truth[1] - truth[0]) / 1e9

    #expect(watch.records(of: "stall").map { $0["id"] } == [.number(1), .number(1)])
    let least = try #require(ended.number("duration_min_ms"))
    let most = try #require(ended.number("duration_max_ms"))
    // The spell also holds what came before and after the target's own measurement, such as waiting for a CPU.
    let waited = try #require(ended["breakdown_ms"]?.object.number("runnable"))
    #expect(least - waited <= seconds * 1000 + 5, "\(least)…\(most) ms, of which \(waited) waiting for a CPU")
    #expect(most >= seconds * 1000, "\(least)…\(most) ms")
    #expect(ended.symbols.contains("main"))
    #expect(ended.symbols.contains { $0.hasPrefix("stall_by_") })
    // What computes may be starved meanwhile: who gets the CPU is not up to the test.
    let told = ended["cause"]?.object["kind"]?.string
    #expect(told?.hasPrefix(cause) == true)
    #expect(ended["verified"] == .boolean(kind != "compute" || canSetBreakpoints))

    watch.signal(SIGINT)
    let summary = try watch.next("summary")
    #expect(summary["stalls"] == .number(1))
    #expect(try watch.end() == .exited(0))
    let isAlive = target.isAlive()
    #expect(isAlive)
    #expect(try threadStates(of: target.processID).values.allSatisfy { $0 != "T" && $0 != "t" })
  }

  @Test(arguments: ["stalled", "busy", "all"]) func otherStacksStandBesideTheStalledOne(_ which: String)
    throws
  {
    let target = try TargetProcess.start("stalling-loop", "epoll", "lock")
    var watch = try WatchRun([
      "--json", "--pid", "\(target.processID)", "--threshold", "200ms", "--stacks", which,
    ])
    _ = try watch.next("notice", kind: "loop.found")
    target.signal(SIGUSR1)
    let stacks = try #require(try watch.next("stall", state: "ended")["stacks"]?.array)
    #expect(
      stacks.map { $0.object["role"]?.string } == (which == "stalled" ? ["main"] : ["main", "lock-owner"]))
    let symbols = stacks.last?.object["frames"]?.array.compactMap { $0.object["symbol"]?.string } ?? []
    #expect(symbols.contains(which == "stalled" ? "stall_by_locking" : "hold_lock"))
  }

  @Test func allStacksHoldThreadsThatHaveNoPartInTheStall() throws {
    var target = try TargetProcess.start("second-loop")
    let thread = try target.readLine()
    var watch = try WatchRun([
      "--json", "--pid", "\(target.processID)", "--thread", thread, "--threshold", "100ms", "--stacks", "all",
    ])
    _ = try watch.next("notice", kind: "loop.found")
    target.signal(SIGUSR1)
    let stacks = try #require(try watch.next("stall", state: "ended")["stacks"]?.array)
    #expect(
      stacks.map { $0.object["tid"] } == [.number(Double(thread) ?? 0), .number(Double(target.processID))])
  }

  @Test(
    "IDLE-01: a program that idles in any kind of wait, on any stack, has no stall",
    arguments: [
      "epoll", "epoll-pwait", "epoll-pwait2", "poll", "ppoll", "select", "pselect", "ring", "signal", "pause",
      "timer", "counter", "signal-descriptor", "inotify", "terminal", "accept", "datagram", "stream", "queue",
      "join", "condition", "sleep-loop", "frame-loop", "exited-main", "coroutine", "signal-stack",
      "threaded-epoll",
    ])
  func idleProgramHasNoStall(_ kind: String) throws {
    var target = try TargetProcess.start("idle", kind)
    var watch = try WatchRun([
      "--json", "--pid", "\(target.processID)", "--threshold", "100ms", "--duration", "1500ms",
    ])
    try watch.readToEnd()
    if kind == "ring", !target.isAlive() { return print("skipped: this kernel has no rings for us") }
    #expect(watch.records(of: "stall").isEmpty)
    #expect(watch.records(of: "summary").count == 1)
    #expect(try watch.end() == .exited(0))
  }

  @Test("IDLE-06: a nested loop that polls the same descriptors is no stall")
  func nestedLoopIsNoStall() throws {
    var target = try TargetProcess.start("nested", "polling")
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)", "--threshold", "300ms"])
    _ = try watch.next("notice", kind: "loop.found")
    target.signal(SIGUSR1)
    _ = try target.readLine()
    watch.signal(SIGINT)
    #expect(try watch.next("summary")["stalls"] == .number(0))
  }

  @Test("IDLE-06: a nested loop that blocks without polling is a stall")
  func nestedLoopThatBlocksIsAStall() throws {
    var target = try TargetProcess.start("nested", "blocking")
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)", "--threshold", "300ms"])
    _ = try watch.next("notice", kind: "loop.found")
    target.signal(SIGUSR1)
    let ended = try watch.next("stall", state: "ended")
    _ = try target.readLine()
    #expect(ended["verified"] == .boolean(true))
    #expect(ended.symbols.contains("run_blocking_dialog"))
  }

  @Test func homeThatWasNamedIsNotInferred() throws {
    let target = try TargetProcess.start("idle", "sleep-loop")
    var watch = try WatchRun([
      "--json", "--pid", "\(target.processID)", "--threshold", "100ms", "--home", "epoll:3",
    ])
    // It comes after ten seconds, and that is as long as a line is waited for.
    let first = try? watch.next("notice", kind: "loop.none")
    let told = try #require(try (first ?? watch.next("notice", kind: "loop.none"))["text"]?.string)
    #expect(told.contains("has not waited on --home epoll:3 (last seen sleeping)"))
    watch.signal(SIGINT)
    #expect(try watch.next("summary")["stalls"] == .number(0))
  }

  /// Our own table says that the loop of this program is a sleep in `sleep_and_sleep`.
  @Test func rulesOfTheEnvironmentTakeThePlaceOfOurs() throws {
    let folder = try TemporaryDirectory()
    let table = "\(folder.path)/rules"
    try Data("[system call]\ncall * in libc.so*\n[a family]\nloop sleep_and_sleep\n".utf8).write(
      to: URL(filePath: table))
    let target = try TargetProcess.start("idle", "sleep-loop")
    var watch = try WatchRun(
      shell:
        "STALLWATCH_LOOP_RULES=\(table) exec \(builtProduct("stallwatch")) --json --pid \(target.processID)")
    let loop = try #require(try watch.next("notice", kind: "loop.found")["loop"]?.object)
    #expect(loop["family"]?.string == "a family")
    #expect(loop["home"]?.string == "sleep")
    #expect(loop["tid"] == .number(Double(target.processID)))
  }

  @Test(arguments: [
    ("loop f\n", "line 1: a rule before the first [family]"), (nil, "is no file that can be read"),
  ])
  func rulesThatCannotBeReadAreRefused(_ table: String?, _ reason: String) throws {
    let folder = try TemporaryDirectory()
    if let table { try Data(table.utf8).write(to: URL(filePath: "\(folder.path)/rules")) }
    let target = try TargetProcess.start("idle", "poll")
    let (output, status) = try shell(
      "STALLWATCH_LOOP_RULES=\(folder.path)/rules $W --pid \(target.processID) 2>&1")
    #expect(output.contains(reason), "\(output)")
    #expect(status == .exited(2))
    let run = try shell("STALLWATCH_LOOP_RULES=\(folder.path)/rules $W run -- echo started 2>&1")
    #expect(run.output.contains(reason) && !run.output.contains("\nstarted"))
    #expect(run.status == .exited(125))
  }

  @Test func stoppedTargetIsNoStall() throws {
    let target = try TargetProcess.start("idle", "frame-loop")
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)", "--threshold", "100ms"])
    _ = try watch.next("notice", kind: "loop.found")
    target.signal(SIGSTOP)
    _ = try watch.next("notice", kind: "stopped.signal")
    usleep(300_000)
    target.signal(SIGCONT)
    _ = try watch.next("notice", kind: "stopped.signal")
    watch.signal(SIGTERM)
    try watch.readToEnd()
    #expect(watch.records(of: "stall").isEmpty)
    #expect(
      watch.records(of: "notice").compactMap { $0["kind"]?.string }.filter { $0 != "names.missing" }
        == ["loop.found", "stopped.signal", "stopped.signal"])
  }

  @Test func targetThatEndsInAStallIsReported() throws {
    let target = try TargetProcess.start("stalling-loop", "epoll", "sleep")
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)", "--threshold", "200ms"])
    _ = try watch.next("attach")
    target.signal(SIGUSR1)
    _ = try watch.next("stall", state: "ongoing")
    target.signal(SIGKILL)
    let cut = try watch.next("stall", state: "interrupted")
    #expect(cut["interruption"]?.string == "target-exited")
    _ = try watch.next("exit")
    _ = try watch.next("summary")
    #expect(try watch.end() == .exited(0))
  }

  @Test func watchThatEndsInAStallReportsItWithAStack() throws {
    let target = try TargetProcess.start("stalling-loop", "epoll", "sleep")
    var watch = try WatchRun([
      "--json", "--pid", "\(target.processID)", "--threshold", "200ms", "--fail-on-stall",
    ])
    _ = try watch.next("attach")
    target.signal(SIGUSR1)
    _ = try watch.next("stall", state: "ongoing")
    watch.signal(SIGINT)
    let cut = try watch.next("stall", state: "interrupted")
    #expect(cut["interruption"]?.string == "watch-ended")
    #expect(cut.symbols.contains("stall_by_sleeping"))
    #expect(try watch.end() == .exited(10))
  }

  /// Any bytes in a thread's name: no wrong column, nothing raw in the output.
  @Test(
    "PROC-01, PROC-07, OUT-04: any bytes in the name of a thread",
    arguments: ["61295220312032", "1b5d303b7807", "fffe20636166c3", "0a0a292053", "e280ae78c285"])
  func hostileThreadNames(_ name: String) throws {
    let target = try TargetProcess.start("stalling-loop", "epoll", "sleep", name)
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)", "--threshold", "200ms"])
    let attach = try watch.next("attach")
    let thread = try #require(attach["thread"]?.object)
    target.signal(SIGUSR1)
    let ended = try watch.next("stall", state: "ended")
    #expect(ended.symbols.contains("stall_by_sleeping"))
    let shown = try #require(thread["name"]?.string)
    #expect(shown.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
    let exact = thread["name_bytes"]?.string.flatMap { Data(base64Encoded: $0) } ?? Data(shown.utf8)
    #expect(exact.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined() == name)
  }

  @Test func execIsNoticedAndTheNewProgramWatched() throws {
    var watch = try WatchRun([
      "run", "--json", "-o", "/dev/stdout", "--threshold", "200ms", "--", "/bin/sh", "-c",
      "sleep 0.3; exec \(builtProduct("TestTarget")) stalling-loop epoll sleep",
    ])
    _ = try watch.next("attach")
    let child = try #require(watch.records[0].number("pid"))
    while true {
      let notice = try watch.next("notice")
      if notice["kind"]?.string == "target.replaced" { break }
    }
    _ = try watch.next("notice")
    kill(Int32(child), SIGUSR1)
    #expect(try watch.next("stall", state: "ended").symbols.contains("stall_by_sleeping"))
    kill(Int32(child), SIGTERM)
    _ = try watch.next("exit")
    #expect(try watch.end() == .signaled(SIGTERM))
  }
}

/// On our own thread, anywhere.
let canSetBreakpoints: Bool =
  (try? ExecutionBreakpoint(thread: 0, address: 0x1000, fires: 1)) != nil
