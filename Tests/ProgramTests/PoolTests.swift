// Threads that wait to be woken: idle, or for one another.

import Glibc
import Linux
import TestSupport
import Testing

@Suite(.serialized) struct PoolTests {
  @Test("IDLE-05: a pool that idles on a condition does not stall, whoever is followed")
  func idlePool() throws {
    for choice in ["auto", "all"] {
      let target = try TargetProcess.start("thread-pool")
      var watch = try WatchRun([
        "--json", "--pid", "\(target.processID)", "--threshold", "100ms", "--thread", choice, "--duration",
        "4s",
      ])
      let summary = try watch.next("summary")
      #expect(summary["stalls"] == .number(0))
      #expect(watch.records(of: "notice").filter { $0["kind"]?.string == "loop.found" }.count == 1)
    }
  }

  @Test("IDLE-05: two locks taken in opposite order are a deadlock that names the other thread")
  func oppositeLocks() throws {
    let target = try TargetProcess.start("opposite-locks")
    var watch = try WatchRun([
      "--json", "--pid", "\(target.processID)", "--threshold", "200ms", "--stacks", "busy",
    ])
    _ = try watch.next("notice", kind: "loop.found")
    target.signal(SIGUSR1)
    let stall = try watch.next("stall", state: "ongoing")
    let cause = try #require(stall["cause"]?.object)
    #expect(cause["kind"] == .string("lock.deadlock"))
    #expect(cause["summary"]?.string?.hasSuffix("\"other-way\" wait for each other") == true)
  }

  @Test("IDLE-05: a lock that a sleeping thread holds is a stall that names the thread")
  func lockOfASleeper() throws {
    let target = try TargetProcess.start("stalling-loop", "epoll", "lock")
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)", "--threshold", "200ms"])
    _ = try watch.next("notice", kind: "loop.found")
    target.signal(SIGUSR1)
    let cause = try #require(try watch.next("stall", state: "ended")["cause"]?.object)
    #expect(cause["kind"] == .string("lock.mutex"))
    #expect(cause["summary"]?.string?.contains("held by") == true)
  }

  @Test("IDLE-04: where no thread runs a loop, it is said once what they do and what to ask for")
  func noThreadRunsALoop() throws {
    let target = try TargetProcess.start("wait-join")
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)"])
    let text = try #require(try watch.next("notice", kind: "loop.none")["text"]?.string)
    #expect(text.hasSuffix("; of 1 other thread 1 wait for signals: --thread all follows all"))
    watch.signal(SIGTERM)
    try watch.readToEnd()
    #expect(watch.records(of: "notice").count == 1)
    #expect(watch.records(of: "stall").isEmpty)
  }

  @Test("IDLE-04: what is said of the loop of another thread names the thread")
  func loopOfAnotherThreadIsNamed() throws {
    var target = try TargetProcess.start("second-loop")
    let thread = try target.readLine()
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)", "--thread", "all"])
    let found = try watch.next("notice", kind: "loop.found")["text"]?.string
    #expect(found?.contains(", thread \(thread) \"") == true)
  }
}
