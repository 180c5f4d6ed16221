// `--heartbeat`, end to end: loops that never sleep, judged without a breakpoint.

import Glibc
import Linux
import TestSupport
import Testing

@Suite(.serialized) struct ProofOfLifeTests {
  private func watch(_ target: borrowing TargetProcess, _ options: String...) throws -> WatchRun {
    try WatchRun(["--json", "--pid", "\(target.processID)", "--no-breakpoint"] + options)
  }

  /// Between two parks there is a second of work, or more, that no look sees interrupted.
  @Test("IDLE-03: a heartbeat tells one long job from many short ones") func heartbeatTellsLoadFromAStall()
    throws
  {
    var target = try TargetProcess.start("heart", "loaded")
    var watch = try watch(target, "--heartbeat", "heart_rounds")
    let notice = try watch.next("notice", kind: "passes.heartbeat")
    #expect(notice["text"]?.string == "heartbeat heart_rounds is TestTarget:heart_rounds, 8 bytes")
    _ = try watch.next("notice", kind: "loop.found")
    target.signal(SIGUSR1)
    let ended = try watch.next("stall", state: "ended")
    let truth = try target.readLine().split(separator: " ").compactMap { Int64($0) }
    #expect(ended["proof"]?.string == "heartbeat" && ended["verified"] == .boolean(true))
    try expectBounds(of: ended, truth)
    watch.signal(SIGINT)
    let summary = try watch.next("summary")
    #expect(summary["stalls"] == .number(1))
  }

  /// What the breakpoint does not see, although it is armed, is believed to be a pass: a person has said so.
  @Test(.enabled(if: canSetBreakpoints)) func breakpointThatSeesLessIsNotUsedAnyMore() throws {
    let target = try TargetProcess.start("heart", "idle", "helped")
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)", "--heartbeat", "heart_of_another"])
    _ = try watch.next("notice", kind: "loop.found")
    target.signal(SIGUSR1)
    let notice = try watch.next("notice", kind: "passes.breakpoint")
    #expect(notice["text"]?.string?.hasPrefix("the heartbeat sees the loop come round") ?? false)
    watch.signal(SIGINT)
    #expect(try watch.next("summary")["stalls"] == .number(0))
  }

  @Test func variableThatStandsStillIsIgnored() throws {
    let target = try TargetProcess.start("heart", "idle")
    var watch = try watch(target, "--heartbeat", "heart_stands_still", "--threshold", "100ms")
    _ = try watch.next("notice", kind: "passes.heartbeat")
    // Ten readings, two seconds apart.
    var notice: [String: JSONValue]?
    for _ in 0..<5 where notice == nil { notice = try? watch.next("notice", kind: "passes.heartbeat") }
    #expect(
      notice?["text"]?.string?.hasSuffix("does not advance when the loop comes round; it is ignored") ?? false
    )
  }

  @Test(arguments: [
    ("heart_round", "is not found; heart_rounds, heart_rounds_32?"),
    ("heart_too_small", "has 2 bytes; a counter has 4 or 8"),
    ("heart_of_thread", "is a thread-local variable"), ("heart_function", "is a function"),
  ]) func mistakenNameIsRefused(name: String, why: String) throws {
    let target = try TargetProcess.start("heart", "idle")
    let run = try shell("stallwatch --pid \(target.processID) --heartbeat \(name) 2>&1")
    #expect(run.status == .exited(2))
    #expect(run.output.contains("--heartbeat \(name) \(why)"), "\(run.output)")
    #expect(run.output.contains("next: "))
  }

  /// What is not there yet may be loaded later.
  @Test func missingModuleIsWaitedFor() throws {
    let target = try TargetProcess.start("heart", "idle")
    var watch = try watch(target, "--heartbeat", "nowhere.so:counter")
    let notice = try watch.next("notice", kind: "passes.heartbeat")
    #expect(notice["text"]?.string?.contains("is in a module that is not loaded (yet)") ?? false)
  }

  @Test func foundAgainInAnotherProgram() throws {
    var watch = try WatchRun([
      "run", "--json", "-o", "/dev/stdout", "--no-breakpoint", "--heartbeat", "heart_rounds", "--",
      "/bin/sh", "-c", "sleep 1; exec \(builtProduct("TestTarget")) heart idle",
    ])
    let first = try watch.next("notice", kind: "passes.heartbeat")
    #expect(first["text"]?.string?.contains("looked for again") ?? false)
    while true {
      let text = try watch.next("notice", kind: "passes.heartbeat")["text"]?.string ?? ""
      if text.contains("is TestTarget:heart_rounds") { break }
    }
    // It is passed on to the program, which ends.
    watch.signal(SIGTERM)
    try watch.readToEnd()
    _ = try watch.end()
  }
}

/// What came between the last pass and the job is waiting for a CPU.
func expectBounds(of ended: [String: JSONValue], _ truth: [Int64]) throws {
  let least = try #require(ended.number("duration_min_ms"))
  let waited = try #require(ended["breakdown_ms"]?.object.number("runnable"))
  #expect(least - waited <= Double(truth[1] - truth[0]) / 1e6 + 10)
}
