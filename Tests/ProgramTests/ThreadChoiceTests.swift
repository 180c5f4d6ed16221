// Which threads are followed: the one that runs the loop, all of them, or those of a name.

import Glibc
import Linux
import TestSupport
import Testing

@Suite(.serialized) struct ThreadChoiceTests {
  @Test("IDLE-04: where the main thread is parked, the thread that runs the loop is followed")
  func threadThatRunsTheLoopIsFound() throws {
    var target = try TargetProcess.start("second-loop")
    let thread = try target.readLine()
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)", "--threshold", "100ms"])
    let notice = try watch.next("notice", kind: "thread.followed")["text"]?.string
    #expect(notice?.hasPrefix("the main thread runs no loop; following thread \(thread) ") == true)
    _ = try watch.next("notice", kind: "loop.found")
    target.signal(SIGUSR1)
    let ended = try watch.next("stall", state: "ended")
    #expect(ended["thread"]?.object["tid"] == .number(Double(thread) ?? 0))
    #expect(ended["thread"]?.object["role"] == .string("loop"))
    #expect(ended.symbols.contains("stall_in_second_thread"))
  }

  @Test("LIFE-01: after the main thread has exited, the loop of another thread is followed")
  func loopOutlivesTheMainThread() throws {
    var target = try TargetProcess.start("loop-then-exit-main")
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)", "--threshold", "100ms"])
    _ = try watch.next("notice", kind: "loop.found")
    target.signal(SIGUSR1)
    let thread = try target.readLine()
    let notice = try watch.next("notice", kind: "thread.followed")["text"]?.string
    #expect(notice?.hasPrefix("the main thread has exited; following thread \(thread) ") == true)
    _ = try watch.next("notice", kind: "loop.found")
    target.signal(SIGUSR1)
    let ended = try watch.next("stall", state: "ended")
    #expect(ended.symbols.contains("stall_in_second_thread"))
  }

  @Test func allThreadsAreFollowed() throws {
    var target = try TargetProcess.start("second-loop")
    let thread = try target.readLine()
    var watch = try WatchRun([
      "--json", "--pid", "\(target.processID)", "--threshold", "100ms", "--thread", "all",
    ])
    _ = try watch.next("notice", kind: "loop.found")
    target.signal(SIGUSR1)
    let ended = try watch.next("stall", state: "ended")
    #expect(ended["thread"]?.object["tid"] == .number(Double(thread) ?? 0))
    target.signal(SIGKILL)
    let summary = try watch.next("summary")
    #expect(summary["stalls"] == .number(1))
  }

  @Test func threadsOfANameAreFollowedOnceTheyAreThere() throws {
    var target = try TargetProcess.start("named-loops")
    var watch = try WatchRun([
      "--json", "--pid", "\(target.processID)", "--threshold", "100ms", "--thread", "name:loop-[ab]",
      "--cooldown", "0",
    ])
    let none = try watch.next("notice", kind: "loop.none")["text"]?.string
    #expect(none == "no thread is named loop-[ab] so far; it is waited for")
    target.signal(SIGUSR1)
    let first = try target.readLine()
    let second = try target.readLine()
    let found = try [watch.next("stall", state: "ended"), watch.next("stall", state: "ended")]
    for thread in [first, second] {
      let identifier = JSONValue.number(try #require(Double(thread)))
      #expect(found.contains { $0["thread"]?.object["tid"] == identifier })
    }
    #expect(found[0]["id"] != found[1]["id"])
  }

  @Test func dumpByNameShowsThoseThreads() throws {
    let target = try TargetProcess.start("second-loop")
    let (output, status) = try shell("$W dump --pid \(target.processID) --thread name:nobody 2>&1")
    #expect(status == .exited(3))
    #expect(output.contains("has no thread named nobody"))
  }
}
