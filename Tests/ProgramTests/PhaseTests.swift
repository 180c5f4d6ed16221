// Phases, with real programs: slow launches, slow ends, slow stops, work in the background.

import Glibc
import Linux
import TestSupport
import Testing

/// `run` of a program of TestTarget, its records on our side of the pipe.
private func run(_ options: String..., program: String...) throws -> WatchRun {
  try WatchRun(
    ["run", "--json", "-o", "/dev/stdout"] + options + ["--", builtProduct("TestTarget")] + program)
}

/// Of which this many took too long.
private func slow(_ summary: [String: JSONValue], _ phase: String) -> Double? {
  summary["slow_phases"]?.object.number(phase)
}

@Suite(.serialized) struct PhaseTests {
  @Test func slowLaunchIsToldAndCountedApart() throws {
    var run = try run("--phase", "launch=300ms", program: "slow-launch", "900")
    let ongoing = try run.next("stall", state: "ongoing")
    #expect(ongoing["phase"] == .string("launch") && ongoing["threshold_ms"] == .number(300))
    #expect(ongoing["proof"] == .string("not-seen-parked") && ongoing["verified"] == .boolean(false))
    let ended = try run.next("stall", state: "ended")
    #expect(try #require(ended.number("duration_max_ms")) >= 900)
    run.signal(SIGTERM)
    let summary = try run.next("summary")
    #expect(slow(summary, "launch") == 1 && summary["stalls"] == .number(0))
  }

  @Test func programThatHasRunForLongHasNoLaunch() throws {
    var target = try TargetProcess.start("slow-launch", "300")
    #expect(try target.readLine() == "launched")
    var watch = try WatchRun([
      "--json", "--pid", "\(target.processID)", "--phase", "launch=50ms",
    ])
    _ = try watch.next("notice", kind: "loop.found")
    watch.signal(SIGINT)
    let summary = try watch.next("summary")
    #expect(slow(summary, "launch") == 0)
    #expect(watch.records(of: "stall").isEmpty)
  }

  @Test func anotherProgramIsAnotherLaunch() throws {
    var run = try WatchRun([
      "run", "--json", "-o", "/dev/stdout", "--phase", "launch=400ms", "--", "/bin/sh", "-c",
      "exec \(builtProduct("TestTarget")) slow-launch 900",
    ])
    #expect(try run.next("stall", state: "ended")["phase"] == .string("launch"))
    run.signal(SIGTERM)
    #expect(slow(try run.next("summary"), "launch") == 1)
  }

  @Test func endThatTakesTooLongIsShown() throws {
    var run = try run("--phase", "quit=300ms", program: "slow-reaction", "900")
    _ = try run.next("notice", kind: "loop.found")
    run.signal(SIGTERM)
    let ongoing = try run.next("stall", state: "ongoing")
    #expect(ongoing["phase"] == .string("quit") && ongoing["proof"] == .string("not-over"))
    let ended = try run.next("stall", state: "ended")
    #expect(ended.symbols.contains("react_slowly"))
    #expect(try #require(ended.number("duration_min_ms")) >= 890)
    let summary = try run.next("summary")
    #expect(slow(summary, "quit") == 1 && summary["stalls"] == .number(0))
    #expect(try run.end() == .exited(0))
  }

  @Test func endIsNotTimedUnlessAskedFor() throws {
    var run = try run("--threshold", "10s", program: "slow-reaction", "300")
    _ = try run.next("notice", kind: "loop.found")
    run.signal(SIGTERM)
    #expect(slow(try run.next("summary"), "quit") == 0)
    #expect(run.records(of: "stall").isEmpty)
  }

  @Test func interruptThatIsTakenForSomethingElseIsNoSlowEnd() throws {
    var run = try run("--phase", "quit=900ms", "--threshold", "100ms", program: "slow-reaction", "20")
    _ = try run.next("notice", kind: "loop.found")
    run.signal(SIGINT)
    try run.wait(forLine: "went on")
    usleep(1_200_000)
    run.signal(SIGTERM)
    #expect(slow(try run.next("summary"), "quit") == 0)
  }

  @Test func stopThatTakesTooLongIsShown() throws {
    var run = try run("--phase", "suspend=300ms", program: "slow-reaction", "900")
    _ = try run.next("notice", kind: "loop.found")
    run.signal(SIGTSTP)
    let ongoing = try run.next("stall", state: "ongoing")
    #expect(ongoing["phase"] == .string("suspend"))
    #expect(try run.next("stall", state: "ended").symbols.contains("react_slowly"))
    _ = try run.next("notice", kind: "stopped.signal")
    run.signal(SIGCONT)
    run.signal(SIGTERM)
    #expect(slow(try run.next("summary"), "suspend") == 1)
  }

  @Test func backgroundMayTakeLonger() throws {
    let file = "/tmp/stallwatch-test-\(getpid())-background"
    defer { unsafe unlink(file) }
    func lines() -> Int { ((try? readPseudoFile(file)) ?? []).count { $0 == UInt8(ascii: "\n") } }
    var session = try TerminalSession.shell()
    try session.type("\(builtProduct("TestTarget")) stalling-loop epoll sleep > \(file) & echo i''d-$!-")
    let target = try #require(try Int32(session.number(after: "id-")))
    #expect(eventually { lines() == 1 })
    var watch = try WatchRun([
      "--json", "--pid", "\(target)", "--threshold", "200ms", "--phase", "background=1m",
    ])
    _ = try watch.next("notice", kind: "loop.found")
    kill(target, SIGUSR1)
    #expect(eventually { lines() == 2 })
    try session.type("fg")
    #expect(
      eventually {
        let stat = (try? readPseudoFile("/proc/\(target)/stat")) ?? []
        return ThreadStat(stat.span).map { !$0.isInBackground } ?? false
      })
    kill(target, SIGUSR1)
    let ended = try watch.next("stall", state: "ended")
    #expect(ended["phase"] == .string("normal"))
    #expect(watch.records(of: "stall").allSatisfy { $0["id"] == ended["id"] })
  }
}
