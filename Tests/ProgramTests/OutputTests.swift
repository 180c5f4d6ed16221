// Reports reach their reader when they are made, and the way they are taken harms nobody.

import Glibc
import Linux
import TestSupport
import Testing

@Suite(.serialized) struct OutputTests {
  @Test("OUT-02: a record is there as soon as it is made, even if its writer is killed")
  func recordsAreNotHeldBack() throws {
    let target = try TargetProcess.start("stalling-loop", "epoll", "sleep")
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)", "--threshold", "100ms"])
    _ = try watch.next("notice", kind: "loop.found")
    target.signal(SIGUSR1)
    _ = try watch.next("stall", state: "ongoing")
    watch.signal(SIGKILL)
    #expect(try watch.end() == .signaled(SIGKILL))
  }

  @Test("OUT-06: each stall has its own id and one end, and the summary counts them all")
  func repeatedStallsAreCounted() throws {
    let target = try TargetProcess.start("parked-crowd", "1")
    var watch = try WatchRun([
      "--json", "--pid", "\(target.processID)", "-t", "100ms", "--count", "3", "--cooldown", "0",
    ])
    try watch.readToEnd()
    let stalls = watch.records(of: "stall")
    #expect(stalls.filter { $0["state"]?.string == "ended" }.compactMap { $0.number("id") } == [1, 2, 3])
    // At the threshold and at each doubling.
    for id in [1.0, 2, 3] {
      #expect(stalls.count { $0.number("id") == id && $0["state"]?.string == "ongoing" } <= 2)
    }
    #expect(watch.records(of: "summary").first?.number("stalls") == 3)
  }

  @Test("OUT-07: missing names do not change the exit status", arguments: ["dump", ""])
  func strippedProgramIsNoFailure(_ command: String) throws {
    let stripped = "/tmp/stallwatch-test-\(getpid())-nameless"
    defer { unsafe unlink(stripped) }
    #expect(try shell("strip -s -o \(stripped) \(builtProduct("TestTarget"))").status == .exited(0))
    var target = try TargetProcess(path: stripped, arguments: ["parked-crowd", "1"])
    #expect(try target.readLine() == "ready")
    let options = command.isEmpty ? "-t 100ms --count 1" : ""
    let (output, status) = try shell("$W \(command) \(options) --pid \(target.processID) 2>&1")
    #expect(status == .exited(0))
    #expect(output.contains("is stripped"))
  }

  /// Were anything written while the reader is held still, neither would go on.
  @Test("PT-21: the reader of the output can be what is watched")
  func readerIsWatched() throws {
    let (output, status) = try shell(
      """
      p=/tmp/stallwatch-test-\(getpid())-reader; mkfifo $p
      cat $p >/dev/null & reader=$!; exec 9>$p; rm $p
      while [ "$(cat /proc/$reader/comm)" != cat ]; do :; done
      for i in 1 2 3 4 5; do timeout -s KILL 10 $W dump -v --pid $reader >&9 || exit 1; done
      timeout -s KILL 10 $W --json --pid $reader -t 10ms --duration 300ms >&9; echo $?
      """)
    #expect(output == "0" && status == .exited(0))
  }

  @Test("PT-21: the shell that waits for the watch can be what is watched")
  func parentIsWatched() throws {
    let (output, status) = try shell(
      "timeout -s KILL 10 $W dump --pid $$ | cat; timeout -s KILL 10 $W --pid $$ -t 10ms --duration 300ms | cat"
    )
    #expect(output.contains("wait4") && status == .exited(0))
  }
}
