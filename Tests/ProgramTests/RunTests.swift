// `run`: users, time limits, what is passed on and what is left behind.

import Glibc
import Linux
import TestSupport
import Testing

@Suite(.serialized) struct RunTests {
  @Test func timeLimitShowsEveryThreadAndAsksForTheEnd() throws {
    var run = try WatchRun([
      "run", "--json", "-o", "/dev/stdout", "--timeout", "400ms", "--", builtProduct("TestTarget"), "idle",
      "join",
    ])
    _ = try run.next("notice", kind: "time.limit")
    let summary = try run.next("dump_summary")
    #expect(summary["threads"] == .number(2))
    #expect(run.records(of: "dump").contains { $0.symbols.contains("forever") })
    #expect(try run.next("exit")["signal"] == .number(Double(SIGTERM)))
    #expect(try run.end() == .signaled(SIGTERM))
  }

  @Test func timeLimitHoldsWithoutAWatchAndChangesNoStatus() throws {
    #expect(try shell("$W run -q --timeout 10s -- sh -c 'exit 5' 2>/dev/null").status == .exited(5))
    // Nothing can be watched without /proc.
    let script = "umount -l /proc; exec $W run -q --timeout 300ms -- sleep 20"
    let (output, status) = try shell(
      "export W; unshare -m true || exit 9; exec unshare -m sh -c '\(script)' 2>&1")
    if status == .exited(9) { return }
    #expect(status == .signaled(SIGTERM))
    #expect(output.contains("sending SIGTERM"))
  }

  @Test func unwatchedProgramGetsItsSignals() throws {
    let script =
      "umount -l /proc; exec $W run -q -- sh -c \"trap \\\"echo got; exit 4\\\" TERM; echo up; while :; do sleep 0.05; done\""
    let (output, status) = try shell(
      "export W; unshare -m true || exit 9; unshare -m sh -c '\(script)' 2>/dev/null & p=$!; sleep 1; kill $p; wait $p; echo status=$?"
    )
    if status != .exited(9) { #expect(output == "up\ngot\nstatus=4") }
  }

  /// A signal that ends the program comes through us: there is time to see what it does.
  @Test func stallIsCapturedBeforeTheEnd() throws {
    var run = try WatchRun([
      "run", "--json", "-o", "/dev/stdout", "--threshold", "300ms", "--", builtProduct("TestTarget"),
      "two-part-stall",
    ])
    _ = try run.next("notice", kind: "loop.found")
    kill(Int32(try #require(run.records[0].number("pid"))), SIGUSR1)
    _ = try run.next("stall", state: "ongoing")
    try run.wait(forLine: "second part")
    run.signal(SIGTERM)
    let cut = try run.next("stall", state: "interrupted")
    // Where most of the time went stands first.
    #expect(cut.symbolsOfAllStacks.contains("stall_in_second_part"))
    #expect(try run.end() == .signaled(SIGTERM))
  }

  @Test(
    "LIFE-07: a daemon that is left behind is named", arguments: ["0", "300"])
  func daemonThatIsLeftBehindIsNamed(_ milliseconds: String) throws {
    let (output, status) = try shell(
      "$W run -- \(builtProduct("TestTarget")) daemonise \(milliseconds) 2>&1")
    #expect(status == .exited(0))
    let daemon = try #require(output.split(separator: "\n").compactMap { Int32($0) }.first)
    defer { kill(daemon, SIGKILL) }
    #expect(output.contains("TestTarget (pid \(daemon)), which it started, still runs"))
  }

  @Test func pipelineIsNotLeftBehind() throws {
    let (output, status) = try shell("$W run -- sh -c 'sleep 0.3' 2>&1 | cat")
    #expect(status == .exited(0))
    #expect(output.contains("ended with status 0") && !output.contains("still runs"))
  }

  @Test("LIFE-07: the child that a launcher waits for is named") func childOfALauncherIsNamed() throws {
    var run = try WatchRun([
      "run", "--json", "-o", "/dev/stdout", "--", "/bin/sh", "-c", "sh -c 'echo $$; exec sleep 60'; true",
    ])
    // On a busy machine the first record comes before the line of the program.
    let lines = try [run.readLine(), run.readLine()]
    let child = try #require(lines.compactMap { Int32($0) }.first)
    defer { kill(child, SIGKILL) }
    let text = try #require(try run.next("notice", kind: "loop.none")["text"]?.string)
    #expect(
      text == "the main thread only waits for sleep (pid \(child)); stallwatch --pid \(child) watches that")
    kill(child, SIGKILL)
    #expect(try run.end() == .exited(0))
  }

  @Test func programRunsAsTheUser() throws {
    let command = "-- sh -c 'id -u; id -G; echo $USER $LOGNAME $HOME'"
    if getuid() == 0 {
      let (output, status) = try shell(
        "$W run -q --user nobody \(command) 2>/dev/null; id -u nobody; id -G nobody")
      let lines = output.split(separator: "\n")
      #expect(status == .exited(0) && lines.count == 5)
      #expect(lines.prefix(2) == lines.suffix(2))
      #expect(lines[2] == "nobody nobody /nonexistent")
    }
    let (output, status) = try shell("$W run -q --user no-such-user \(command) 2>&1")
    #expect(status == .exited(125) && output.contains("there is no user no-such-user"))
  }

  @Test func onlyRootBecomesAnotherUser() throws {
    let copy = "/tmp/stallwatch-test-\(getpid())-user"
    defer { unsafe unlink(copy) }
    let drop = getuid() == 0 ? "setpriv --reuid 65534 --regid 65534 --clear-groups" : ""
    let (output, status) = try shell("cp $W \(copy) && \(drop) \(copy) run --user root -- true 2>&1")
    #expect(status == .exited(125))
    #expect(output.contains("cannot become user root") && output.contains("sudo stallwatch run --user root"))
  }
}
