// What `dump` says of many threads, and of those that it cannot see.

import Glibc
import Linux
import TestSupport
import Testing

@Suite struct DumpTests {
  private static func parkedCrowd(_ count: Int) throws -> TargetProcess {
    let target = try TargetProcess.start("parked-crowd", "\(count)")
    let process = target.processID
    let threads = try ThreadList.threads(of: process).filter { $0 != process }
    // 34 is `pause`.
    let areParked = eventually {
      threads.allSatisfy { (try? readPseudoFile("/proc/\($0)/syscall"))?.starts(with: "34 ".utf8) == true }
    }
    #expect(areParked && threads.count == count)
    return target
  }

  @Test(
    "SCALE-01: equal stacks are shown once, with and without the task iterator", arguments: ["bpf", "proc"])
  func equalStacksAreFolded(_ observer: String) throws {
    let target = try Self.parkedCrowd(40)
    let dump = "dump --observer \(observer) --pid \(target.processID)"
    let (text, status) = try shell("$W \(dump)")
    #expect(status == .exited(0))
    #expect(text.contains("40 threads like this: "))
    #expect(text.ranges(of: "sleep_for_ever").count == 1)
    #expect(text.contains("41 threads · in "))
    // Each by itself where its evidence is asked for, and in JSON.
    #expect(try shell("$W \(dump) -v").output.ranges(of: "sleep_for_ever").count == 40)
    #expect(try shell("$W \(dump) --json").output.ranges(of: "\"type\":\"dump\"").count == 41)
  }

  @Test("PT-23: --never-stop holds nobody, and counts what it could not have by the reason")
  func whatIsMissingIsCounted() throws {
    // Through /proc: the iterator shows where a thread was that has to wait for a CPU.
    let target = try TargetProcess.start("spin")
    let (output, status) = try shell(
      "\(builtProduct("TestTarget")) deny perf_event_open 1 $W dump --never-stop --observer proc --pid \(target.processID)"
    )
    #expect(status == .exited(5))
    #expect(
      output.contains(
        "1 thread without a stack: the thread is running, and perf samples are not allowed"), "\(output)")
    var dump = try WatchRun(
      shell:
        "exec \(builtProduct("TestTarget")) deny perf_event_open 1 \(builtProduct("stallwatch")) dump --json --never-stop --observer proc --pid \(target.processID)"
    )
    let summary = try dump.next("dump_summary")
    let missing = try #require(summary["missing_stacks"]?.array.first?.object)
    #expect(missing.number("threads") == 1 && summary.number("without_stack") == 1)
    #expect(summary.number("target_stopped_us") == 0)
    #expect(try dump.end() == .exited(5))
  }

  @Test("a dump that may not stop anybody lets everybody else go first") func givesWay() throws {
    let target = try Self.parkedCrowd(300)
    // More than fits into the pipe: it is there until it is read from.
    var dump = try WatchRun(["dump", "--never-stop", "--json", "--pid", "\(target.processID)"])
    let process = id_t(dump.processID)
    #expect(eventually { getpriority(__priority_which_t(PRIO_PROCESS.rawValue), process) == 19 })
    #expect(try dump.next("dump_summary").number("threads") == 301)
    #expect(try dump.end() == .exited(0))
  }

  @Test(
    "SCALE-01: ten thousand threads are dumped, without a stop and within bounds",
    .enabled(if: isTaskIteratorExpected, "no task iterator"))
  func tenThousandThreads() throws {
    let target = try Self.parkedCrowd(10_000)
    let path = "/tmp/stallwatch-test-\(getpid())-crowd"
    defer { unsafe unlink(path) }
    let (output, status) = try shell(
      """
      $W dump --json --never-stop --pid \(target.processID) >\(path) &
      while kill -0 $!; do echo; sleep 0.5; done 2>/dev/null; wait $!; tail -1 \(path)
      grep -c sleep_for_ever \(path); grep -c '"captured":"task-iterator"' \(path)
      """)
    #expect(status == .exited(0))
    // Empty ones are signs of life.
    let lines = output.split(separator: "\n")
    try #require(lines.count == 3)
    #expect(lines[0].contains("\"threads\":10001,") && lines[0].contains("\"target_stopped_us\":0,"))
    #expect(lines[1] == "10000")
    // The first thread runs now and then.
    #expect(try #require(Int(lines[2])) >= 10_000)
  }
}
