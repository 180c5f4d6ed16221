// Threads and processes that come and go while they are looked at.

import Glibc
import Linux
import TestSupport
import Testing

@Suite(.serialized) struct VanishingTests {
  @Test("PROC-03: threads that end all the time are no trouble for a watch")
  func watchOfShortLivedThreads() throws {
    let target = try TargetProcess.start("thread-churn")
    let (output, status) = try shell(
      "$W --pid \(target.processID) -t 50ms --cpu-window 100ms --duration 800ms 2>&1 >/dev/null")
    #expect(status == .exited(0))
    #expect(!output.contains("No such") && !output.contains("cannot"))
  }

  @Test("PROC-03: the end of the process is an end, not an error")
  func endOfTheTarget() throws {
    let (output, status) = try shell(
      "sleep 0.7 & p=$!; while [ \"$(cat /proc/$p/comm)\" != sleep ]; do :; done; $W --pid $p 2>&1")
    #expect(status == .exited(0))
    #expect(output.contains("ended") || output.contains("exited"))
    #expect(!output.contains("No such") && !output.contains("Input/output"))
  }

  @Test("PT-10: threads that end during a dump are left out of it")
  func dumpOfShortLivedThreads() throws {
    let target = try TargetProcess.start("thread-churn")
    for _ in 0..<5 {
      var dump = try WatchRun(["dump", "--json", "--pid", "\(target.processID)"])
      try dump.readToEnd()
      let dumped = dump.records(of: "dump")
      #expect(dumped.contains { $0["stacks"]?.array.first?.object.number("tid") == Double(target.processID) })
      let missing = dumped.compactMap { $0["stacks"]?.array.first?.object["missing"]?.string }
      #expect(missing.allSatisfy { !$0.contains("has ended") })
      #expect(dump.records(of: "dump_summary").count == 1)
    }
  }

  @Test("PT-09: threads that start faster than they can be copied end no dump, and are counted")
  func dumpOfThreadsThatBeget() throws {
    let target = try TargetProcess.start("birth-chain", "20")
    var dump = try WatchRun(["dump", "--json", "--pid", "\(target.processID)"])
    let summary = try dump.next("dump_summary")
    #expect(try #require(summary.number("omitted")) > 0)
    #expect(try dump.end() != .exited(1))
  }

  @Test("PT-13: a first thread that has ended holds nobody up")
  func dumpWithoutTheFirstThread() throws {
    let target = try TargetProcess.start("idle", "exited-main")
    let process = target.processID
    #expect(try eventually { () throws(Errno) in try threadStates(of: process)[process] == "Z" })
    var dump = try WatchRun(["dump", "--json", "--pid", "\(process)"])
    try dump.readToEnd()
    #expect(dump.records(of: "dump").map { $0.symbols.contains("forever") } == [true])
    #expect(try dump.end() == .exited(0))
    // Options such as PTRACE_O_TRACEEXIT would hold the last thread at its end.
    var watch = try WatchRun(["--json", "--pid", "\(process)"])
    _ = try watch.next("attach")
    watch.signal(SIGUSR1)
    target.signal(SIGKILL)
    _ = try watch.next("exit")
    #expect(try watch.end() == .exited(0))
  }
}
