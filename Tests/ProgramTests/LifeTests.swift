// The life of a watched process: threads that end, programs that are replaced, ids that are used again.

import Glibc
import Linux
import TestSupport
import Testing

@Suite(.serialized) struct LifeTests {
  @Test("LIFE-01: a process without its main thread is watched on, and its threads named")
  func processWithoutItsMainThreadIsWatchedOn() throws {
    let target = try TargetProcess.start("busy-without-main")
    let process = target.processID
    let isAlone = try eventually { () throws(Errno) in try threadStates(of: process)[process] == "Z" }
    #expect(isAlone)
    var watch = try WatchRun([
      "--json", "--pid", "\(process)", "--cpu-window", "300ms", "--cpu-threshold", "30",
    ])
    let attach = try watch.next("attach")
    #expect(attach["executable"]?.string == builtProduct("TestTarget"))
    #expect(attach["command"]?.array.last == .string("busy-without-main"))
    let worker = try #require(ThreadList.living(of: process).first)
    let notice = try watch.next("notice", kind: "thread.ended")
    let text = try #require(notice["text"]?.string)
    #expect(text.contains("the main thread has exited; 1 thread still running"))
    #expect(text.contains("--thread \(worker)"))
    let busy = try watch.next("cpu")
    #expect(busy["thread"]?.object["tid"] == .number(Double(worker)))
    #expect(busy.symbols.contains("compute_for_ever"))
    target.signal(SIGKILL)
    _ = try watch.next("exit")
    #expect(try watch.end() == .exited(0))
  }

  @Test("LIFE-01: a main thread that exits is no stall") func mainThreadThatExitsIsNoStall() throws {
    var target = try TargetProcess.start("loop-then-exit-main")
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)", "--threshold", "100ms"])
    _ = try watch.next("notice", kind: "loop.found")
    target.signal(SIGUSR1)
    _ = try target.readLine()
    _ = try watch.next("notice", kind: "thread.ended")
    target.signal(SIGKILL)
    _ = try watch.next("summary")
    #expect(watch.records(of: "stall").isEmpty)
  }

  @Test func chosenThreadIsWatched() throws {
    var target = try TargetProcess.start("second-loop")
    let thread = try target.readLine()
    var watch = try WatchRun([
      "--json", "--pid", "\(target.processID)", "--thread", thread, "--threshold", "100ms",
    ])
    let attach = try watch.next("attach")
    #expect(attach["thread"]?.object["tid"] == .number(Double(thread) ?? 0))
    _ = try watch.next("notice", kind: "loop.found")
    target.signal(SIGUSR1)
    let ended = try watch.next("stall", state: "ended")
    #expect(ended.symbols.contains("stall_in_second_thread"))
    #expect(ended["thread"]?.object["tid"] == .number(Double(thread) ?? 0))
    #expect(ended["thread"]?.object["role"] == .string("worker"))
  }

  @Test func chosenThreadThatEndsInItsStallIsReported() throws {
    var target = try TargetProcess.start("second-loop", "ends")
    let thread = try target.readLine()
    var watch = try WatchRun([
      "--json", "--pid", "\(target.processID)", "--thread", thread, "--threshold", "100ms",
    ])
    _ = try watch.next("notice", kind: "loop.found")
    target.signal(SIGUSR1)
    let cut = try watch.next("stall", state: "interrupted")
    #expect(cut["interruption"] == .string("thread-ended"))
    let text = try watch.next("notice", kind: "thread.ended")["text"]?.string
    #expect(text?.contains("thread \(thread)") == true)
    let isAlive = target.isAlive()
    #expect(isAlive)
  }

  @Test func threadOfAnotherProcessIsRefused() throws {
    let target = try TargetProcess.start("pause")
    let (output, status) = try shell("stallwatch --pid \(target.processID) --thread 1 2>&1")
    #expect(status == .exited(3))
    #expect(output.contains("has no thread 1"))
  }

  @Test func dumpOfOneThreadShowsItAlone() throws {
    var target = try TargetProcess.start("second-loop")
    let thread = try target.readLine()
    var dump = try WatchRun(["dump", "--json", "--pid", "\(target.processID)", "--thread", thread])
    try dump.readToEnd()
    #expect(dump.records(of: "dump").map { $0["thread"]?.object["tid"] } == [.number(Double(thread) ?? 0)])
  }

  /// Some hundred programs a second, and a few lines about them.
  @Test(arguments: ["exec-loop", "thread-exec-loop"]) func stormOfProgramsIsTold(_ kind: String) throws {
    let target = try TargetProcess.start(kind)
    var watch = try WatchRun([
      "--json", "--pid", "\(target.processID)", "--threshold", "50ms", "--duration", "2500ms",
    ])
    try watch.readToEnd()
    let told = watch.records(of: "notice").filter { $0["kind"]?.string == "target.replaced" }
    #expect((2...4).contains(told.count))
    #expect(told.last?["text"]?.string?.contains("times or more") == true)
    #expect(watch.records(of: "stall").isEmpty)
  }

  /// Between the end of the first thread and the moment in which another one takes its id there is no thread to list.
  @Test func processIsThereWhileItsThreadsExecutePrograms() throws {
    let target = try TargetProcess.start("thread-exec-loop")
    let (output, _) = try shell(
      "for i in $(seq 20); do $W dump --symbols none --pid \(target.processID) 2>&1; done")
    #expect(!output.contains("stallwatch:"))
  }

  @Test("LIFE-09: a target that exits in its stall ends the watch in order")
  func targetThatExitsInItsStallEndsTheWatchInOrder() throws {
    for _ in 0..<5 {
      let target = try TargetProcess.start("stall-and-exit", "500", "0")
      var watch = try WatchRun(["--json", "--pid", "\(target.processID)", "--threshold", "100ms"])
      _ = try watch.next("notice", kind: "loop.found")
      target.signal(SIGUSR1)
      try watch.readToEnd()
      let stalls = watch.records(of: "stall")
      #expect(stalls.last?["state"] == .string("interrupted"))
      #expect(stalls.last?["interruption"] == .string("target-exited"))
      #expect(watch.records.suffix(2).map { $0["type"]?.string } == ["exit", "summary"])
      #expect(watch.records(of: "notice").allSatisfy { $0["kind"]?.string != "capture.failed" })
      #expect(try watch.end() == .exited(0))
    }
  }

  /// Under the threshold at its end: no stall.
  @Test("LIFE-09: a target that exits below the threshold has no stall")
  func targetThatExitsBelowTheThresholdHasNoStall() throws {
    let target = try TargetProcess.start("stall-and-exit", "300", "0")
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)", "--threshold", "900ms"])
    _ = try watch.next("notice", kind: "loop.found")
    target.signal(SIGUSR1)
    try watch.readToEnd()
    #expect(watch.records(of: "stall").isEmpty)
    #expect(watch.records(of: "summary").first?["stalls"] == .number(0))
  }

  /// In a pid namespace of our own an id can be given out again at once. The watch is asked for a dump while it does
  /// not run, and finds a stranger under the old id.
  @Test("LIFE-02: a process that took the id is never taken for the old one")
  func processThatTookTheIdIsNeverTakenForTheOldOne() throws {
    let script = """
      T=\(builtProduct("TestTarget")); O=/tmp/stallwatch-test-reuse-$$; trap 'rm -f $O' EXIT
      $T pause >/dev/null & old=$!
      $W --json --pid $old -o $O & watch=$!
      until grep -q attach $O 2>/dev/null; do sleep 0.01; done
      kill -STOP $watch; kill -USR1 $watch; kill -KILL $old; wait $old
      echo $((old - 1)) > /proc/sys/kernel/ns_last_pid || exit 9
      $T idle join >/dev/null & new=$!
      [ $new = $old ] || exit 9
      kill -CONT $watch; wait $watch; echo status=$?
      kill $new && echo alive; cat $O
      """
    let (output, status) = try shell(
      "export W; unshare -pf --mount-proc sh -c '\(script.replacing("'", with: "'\\''"))'")
    // Not allowed to everyone; and who is faster takes the id.
    if status != .exited(0) { return print("skipped: the id could not be given out again") }
    #expect(output.contains("status=0") && output.contains("alive"))
    #expect(output.contains("\"exit\"") && output.contains("\"summary\""))
    #expect(!output.contains("\"type\":\"dump\""))
  }

  @Test("X-07: another boot clock, of the target or of ours, is no matter") func otherBootClockIsNoMatter()
    throws
  {
    let target = "\(builtProduct("TestTarget")) pause"
    let (output, status) = try shell(
      """
      unshare --time true 2>/dev/null || exit 9
      unshare --time --boottime 100000000 \(target) >/dev/null & p=$!
      sleep 0.3; $W --pid $p --duration 200ms >/dev/null; echo status=$?
      unshare --time --boottime 100000000 --fork $W --pid $p --duration 200ms >/dev/null; echo status=$?; kill $p
      """)
    if status == .exited(9) { return print("skipped: no time namespace is allowed") }
    #expect(output == "status=0\nstatus=0")
  }
}
