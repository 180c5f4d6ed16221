// A stall that is the doing of the program's cgroup.

import Glibc
import Linux
import TestSupport
import Testing

@Suite(.serialized) struct SurroundingsOfStallTests {
  @Test("TIME-05: a quota that is used up is the cause, and no block")
  func quotaThatIsUsedUpIsTheCause() throws {
    guard let group = QuotaGroup() else { return print("skipped: no group with a quota can be made") }
    var target = try TargetProcess.start("stalling-loop", "epoll", "compute")
    try group.add(target.processID)
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)"])
    _ = try watch.next("notice", kind: "loop.found")
    target.signal(SIGUSR1)
    _ = try watch.next("stall", state: "ongoing")
    let ended = try watch.next("stall", state: "ended")
    #expect(ended["cause"]?.object["kind"] == .string("cpu.throttled"))
    #expect(ended["class"] == .string("starved"))
    let surroundings = try #require(ended["surroundings"]?.object)
    #expect(try #require(surroundings.number("throttled_times")) > 0)
    let throttled = try #require(surroundings.number("throttled_ms"))
    #expect(throttled > 0)
    _ = try target.readLine()
    target.signal(SIGKILL)
    _ = try target.waitForExit()
  }
}
