// The task iterator and `/proc` look at the same real threads: what both can see must be the same.

import Glibc
import Linux
import Observation
import StallCore
import TestSupport
import Testing

@Suite(.enabled(if: isTaskIteratorExpected, "the task iterator needs root, Linux 5.15 and its types"))
struct IteratorObserverTests {
  private static func reader(_ process: Int32) -> MemoryReader {
    { address, length, buffer in
      unsafe buffer.withUnsafeMutableBytes { bytes in
        let part = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[..<length])
        return (try? unsafe ProcessMemory(ofThread: process).read(at: address, into: part)) == length
      }
    }
  }

  /// The same block, seen by both.
  private func looks(_ process: Int32) throws -> (iterator: ThreadObservation, proc: ThreadObservation) {
    let read = Self.reader(process)
    var iterator = try IteratorObserver(process: process, thread: process, TaskProgram(process: process))
    for _ in 0..<5_000 {
      var proc = try ProcObserver(process: process, thread: process)
      let pair = (
        try iterator.lookAtLiving(read), try proc.look(isAtWork: false, readMemory: read)
      )
      if pair.0.isBlocked, pair.1.hasNotMoved(since: pair.0) { return pair }
      usleep(1_000)
    }
    throw Errno.timedOut
  }

  private func expectSame(_ one: ThreadObservation, _ other: ThreadObservation) {
    #expect(one.state == other.state && one.activity == other.activity)
    #expect(one.cpuTime == other.cpuTime && one.runQueueDelay == other.runQueueDelay)
    #expect(one.voluntarySwitches == other.voluntarySwitches && one.descriptors == other.descriptors)
  }

  @Test(arguments: ["epoll", "poll", "select", "pause", "signal", "accept", "queue", "condition"])
  func seesWhatProcSees(_ kind: String) throws {
    let target = try TargetProcess.start("idle", kind)
    let (iterator, proc) = try looks(target.processID)
    guard case .blocked = iterator.activity else {
      Issue.record("\(iterator.activity)")
      return
    }
    expectSame(iterator, proc)
  }

  @Test("STOP-01: a stopped thread is stopped, in the same call") func stopped() throws {
    let target = try TargetProcess.start("idle", "epoll")
    target.signal(SIGSTOP)
    #expect(try eventually { try threadStates(of: target.processID)[target.processID] == "T" })
    let (iterator, proc) = try looks(target.processID)
    #expect(iterator.state == .stopped)
    expectSame(iterator, proc)
  }

  @Test func computingThreadRuns() throws {
    let target = try TargetProcess.start("spin")
    var observer = try IteratorObserver(
      process: target.processID, thread: target.processID, TaskProgram(process: target.processID))
    let look = try observer.lookAtLiving(Self.reader(target.processID))
    #expect(look.activity == .running && look.state == .running && look.arrival != nil)
  }

  /// Between the request and the look: nothing closer can be said without a clock in the target.
  @Test func blockBeganBeforeTheLookAndAfterItsCause() throws {
    let target = try TargetProcess.start("stalling-loop", "epoll", "sleep")
    let read = Self.reader(target.processID)
    var observer = try IteratorObserver(
      process: target.processID, thread: target.processID, TaskProgram(process: target.processID))
    var look = try observer.lookAtLiving(read)
    func isAsleep() -> Bool {
      if case .blocked(let call) = look.activity {
        call.number == SystemCallNumber.clockNanosleep
      } else {
        false
      }
    }
    // As a watch does it: right after it was woken, which is what the clocks are compared by; one such look may be late.
    func lookAfterSleep() throws {
      usleep(500)
      look = try observer.lookAtLiving(read)
    }
    for _ in 0..<100 { try lookAfterSleep() }
    let before = Instant(nanoseconds: Clock.monotonicNanoseconds)
    target.signal(SIGUSR1)
    while !isAsleep() { try lookAfterSleep() }
    let start = observer.blockStart(of: look)
    let began = try #require(start)
    #expect(began.latest >= before && began.latest <= look.at)
    look.blockStart = began
    let ranUntil = try #require(look.ranUntil)
    #expect(ranUntil >= before && ranUntil <= look.at)
    #expect(look.blockedSinceTolerance < .milliseconds(50))
  }

  @Test("PROC-03: a thread that has ended is gone, and no error") func endedThread() throws {
    var target = try TargetProcess.start("idle", "pause")
    let process = target.processID
    var observer = try IteratorObserver(process: process, thread: process, TaskProgram(process: process))
    _ = try observer.lookAtLiving(Self.reader(process))
    target.signal(SIGKILL)
    _ = try target.waitForExit()
    var reason: Errno?
    do throws(Errno) { _ = try observer.lookAtLiving(Self.reader(process)) } catch {
      reason = error
    }
    #expect(reason?.meansTaskGone == true)
  }
}

extension IteratorObserver {
  fileprivate mutating func lookAtLiving(_ readMemory: MemoryReader) throws(Errno) -> ThreadObservation {
    guard let look = try look(isAtWork: true, readMemory: readMemory) else { throw .noSuchProcess }
    return look
  }
}
