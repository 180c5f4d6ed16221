// Looks at real threads: what they wait on, since when, and what happens when they end.

import Glibc
import Linux
import Observation
import StallCore
import TestSupport
import Testing

@Suite struct ProcObserverTests {
  /// Reads at once, which a watch never does: these targets have no hostile memory.
  private static func reader(_ process: Int32) -> MemoryReader {
    { address, length, buffer in
      unsafe buffer.withUnsafeMutableBytes { bytes in
        let part = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[..<length])
        return (try? unsafe ProcessMemory(ofThread: process).read(at: address, into: part)) == length
      }
    }
  }

  /// Looks until the thread is blocked.
  private func lookAtBlocked(_ process: Int32, _ observer: inout ProcObserver) throws -> ThreadObservation {
    for _ in 0..<5_000 {
      let look = try observer.look(isAtWork: true, readMemory: Self.reader(process))
      if case .blocked = look.activity { return look }
      usleep(1_000)
    }
    throw Errno.timedOut
  }

  @Test(arguments: [
    ("epoll", SystemCallNumber.epollWait), ("poll", SystemCallNumber.poll), ("pause", SystemCallNumber.pause),
    ("signal", SystemCallNumber.rtSigtimedwait), ("accept", SystemCallNumber.accept),
    ("queue", SystemCallNumber.msgrcv), ("condition", SystemCallNumber.futex),
  ])
  func showsTheCallThatBlocks(_ kind: String, _ number: Int) throws {
    let target = try TargetProcess.start("idle", kind)
    var observer = try ProcObserver(process: target.processID, thread: target.processID)
    let look = try lookAtBlocked(target.processID, &observer)
    guard case .blocked(let call) = look.activity else { return }
    #expect(call.number == number && call.stackPointer != 0 && call.programCounter != 0)
    #expect(look.state == .sleeping)
    let next = try observer.look(isAtWork: true, readMemory: Self.reader(target.processID))
    #expect(next.hasNotMoved(since: look))
    #expect(observer.restsStill().map { $0 >= next.at } ?? false)
  }

  @Test func whoHasMovedDoesNotRest() throws {
    let target = try TargetProcess.start("stalling-loop", "epoll", "sleep")
    var observer = try ProcObserver(process: target.processID, thread: target.processID)
    #expect(observer.restsStill() == nil, "before the first look")
    let parked = try lookAtBlocked(target.processID, &observer)
    #expect(observer.restsStill() != nil)
    target.signal(SIGUSR1)
    while observer.restsStill() != nil { usleep(1_000) }
    let look = try observer.look(isAtWork: false, readMemory: Self.reader(target.processID))
    #expect(look.timesScheduled > parked.timesScheduled)
  }

  /// A look may begin while the thread computes, and find it blocked.
  @Test func timesOfABlockAreTheSameInAllLooks() throws {
    let target = try TargetProcess.start("counted-sleeps")
    let reader = Self.reader(target.processID)
    var one = try ProcObserver(process: target.processID, thread: target.processID)
    var other = try ProcObserver(process: target.processID, thread: target.processID)
    var compared = 0
    for _ in 0..<100_000 {
      let look = try one.look(isAtWork: true, readMemory: reader)
      let second = try other.look(isAtWork: true, readMemory: reader)
      guard second.hasNotMoved(since: look) else { continue }
      compared += 1
      #expect(second.cpuTime == look.cpuTime && second.runQueueDelay == look.runQueueDelay)
      #expect(second.voluntarySwitches == look.voluntarySwitches && second.isAtSamePlace(as: look))
    }
    #expect(compared > 0)
  }

  @Test(arguments: ["poll", "select"])
  func readsTheDescriptorsOfASet(_ kind: String) throws {
    let target = try TargetProcess.start("idle", kind)
    var observer = try ProcObserver(process: target.processID, thread: target.processID)
    let look = try lookAtBlocked(target.processID, &observer)
    let set = try #require(look.descriptors)
    #expect(set.count == 1)
    let link = try readLink("/proc/\(target.processID)/fd/\(try #require(set.first))")
    #expect(String(decoding: link, as: UTF8.self) == "anon_inode:[eventfd]")
  }

  /// After the request was sent and before the look: nothing closer can be said without a clock in the test.
  @Test func blockBeganBeforeTheLookAndAfterItsCause() throws {
    let target = try TargetProcess.start("stalling-loop", "epoll", "sleep")
    var observer = try ProcObserver(process: target.processID, thread: target.processID)
    _ = try lookAtBlocked(target.processID, &observer)
    let before = Instant(nanoseconds: Clock.monotonicNanoseconds)
    target.signal(SIGUSR1)
    var look = try lookAtBlocked(target.processID, &observer)
    while case .blocked(let call) = look.activity, call.number != SystemCallNumber.clockNanosleep {
      look = try lookAtBlocked(target.processID, &observer)
    }
    let blockStart = observer.blockStart(of: look)
    let began = try #require(blockStart, "this kernel has no /proc/PID/task/TID/sched")
    #expect(began.latest >= before && began.latest <= look.at)
    let earliest = try #require(began.earliest)
    #expect(earliest <= began.latest && began.latest - earliest < .milliseconds(50))
  }

  /// A sleeping thread may be frozen and thawed without ever running.
  @Test("PT-08: a thread at work that is frozen where it sleeps is seen to be, and seen to be thawed")
  func seesTheFreezerWhereTheThreadDoesNotMove() throws {
    guard let freezer = Freezer() else { return print("skipped: no cgroup may be made") }
    let target = try TargetProcess.start("idle", "condition")
    var observer = try ProcObserver(process: target.processID, thread: target.processID)
    let before = try lookAtBlocked(target.processID, &observer)
    #expect(before.state == .sleeping)
    try freezer.freeze(target.processID)
    defer { freezer.thaw() }
    func isFrozen() throws -> Bool {
      try observer.look(isAtWork: true, readMemory: Self.reader(target.processID)).state == .frozen
    }
    #expect(try eventually { try isFrozen() })
    freezer.thaw()
    #expect(try eventually { try !isFrozen() })
  }

  @Test("PROC-03: a process that ended after its files were opened is gone, and no error")
  func endedProcessIsGoneAndNoError() throws {
    var target = try TargetProcess.start("idle", "pause")
    let process = target.processID
    var observer = try ProcObserver(process: process, thread: process)
    _ = try lookAtBlocked(process, &observer)
    target.signal(SIGKILL)
    _ = try target.waitForExit()
    var reason: Errno?
    do throws(Errno) { _ = try observer.look(isAtWork: true, readMemory: Self.reader(process)) } catch {
      reason = error
    }
    #expect(reason?.meansTaskGone == true)
  }

  @Test("PROC-03: threads that end during a scan are left out") func scanOfThreadsThatEndMeanwhile() throws {
    let target = try TargetProcess.start("thread-churn")
    for _ in 0..<300 {
      var scanner = ThreadScanner(process: target.processID)
      try scanner.begin()
      var samples: [ThreadCPUSample]?
      while samples == nil { samples = scanner.proceed() }
      #expect(samples?.contains { $0.threadID == target.processID } == true)
    }
  }
}
