// Capturing threads that cannot stop, change their identity, end, or belong to somebody else.

import Glibc
import Linux
import StallCore
import TestSupport
import Testing

@testable import Stacks

@Suite struct CaptureTroubleTests {
  /// Without the policy before it: a real stop in the middle of `epoll_wait`, every time.
  @Test("PT-01: a stop in the middle of epoll_wait is undone") func interruptionIsUndone() throws {
    var target = try TargetProcess.start("epoll-loop")
    let counters = try #require(UInt64(try target.readLine()))
    let buffer = CopyBuffer()
    for _ in 0..<100 {
      for _ in 0..<10 { _ = try PtraceCapture.take(target.processID, buffer: buffer, limit: 4096) }
      // Each of them made the wait of 1 ms start anew.
      let passes = try readWord(of: target.processID, at: counters)
      #expect(try eventually { try readWord(of: target.processID, at: counters) > passes })
    }
    #expect(try readWord(of: target.processID, at: counters + 8) == 0)
  }

  /// A signal with a handler makes `epoll_wait` fail with EINTR, and our stop must not hide it.
  @Test("PT-01, PT-03: a real signal still interrupts epoll_wait") func realInterruptionIsSeen() throws {
    var target = try TargetProcess.start("epoll-signals", "500")
    let buffer = CopyBuffer()
    let counts = try countWhile(&target) { target in
      _ = try? PtraceCapture.take(target, buffer: buffer, limit: 4096)
    }
    #expect(counts == "500")
  }

  /// Runs the action until the program prints its line, or hangs.
  private func countWhile(_ target: inout TargetProcess, _ action: (Int32) -> Void) throws -> String {
    let giveUp = Clock.monotonicNanoseconds + 20_000_000_000
    while try !target.hasOutput(), Clock.monotonicNanoseconds < giveUp { action(target.processID) }
    return try target.readLine()
  }

  /// Where process_vm_readv is refused, the same bytes come through the file or word by word.
  @Test("PERM-11, SW-05: three ways of reading memory agree") func threeWaysOfReadingAgree() throws {
    var target = try TargetProcess.start("pattern")
    let address = try #require(UInt64(try target.readLine()))
    let stopped = try StoppedThread(target.processID)
    let memory = ProcessMemory(ofThread: target.processID, isStoppedByUs: true)
    let expected = [UInt8](repeating: 0xA5, count: 4096)
    var bytes = [UInt8](repeating: 0, count: 4096)
    _ = try unsafe bytes.withUnsafeMutableBytes { try unsafe memory.read(at: address, into: $0) }
    #expect(bytes == expected)
    bytes = [UInt8](repeating: 0, count: 4096)
    _ = try unsafe bytes.withUnsafeMutableBytes { try unsafe memory.readFile(at: address, into: $0) }
    #expect(bytes == expected)
    bytes = [UInt8](repeating: 0, count: 4096)
    _ = try unsafe bytes.withUnsafeMutableBytes { try unsafe memory.peek(at: address, into: $0) }
    #expect(bytes == expected)
    _ = consume stopped
    #expect(try eventually { try threadStates(of: target.processID) == [target.processID: "S"] })
  }

  @Test("PT-07: a thread in an uninterruptible wait is not touched") func uninterruptibleThreadIsNotTouched()
    throws
  {
    let target = try TargetProcess.start("vfork-parent")
    let isWaiting = try eventually { () throws(Errno) in
      try threadStates(of: target.processID).values.contains("D")
    }
    #expect(isWaiting)
    var helper = testHelper()
    let capture = try helper.captureMain(target.processID, CaptureRules(isDump: true))
    #expect(capture.way == .syscallFile)
    #expect(try threadStates(of: target.processID).values.contains("D"))
  }

  @Test("PT-02, PT-11: a helper that was killed is replaced, and holds nobody") func killedHelperIsReplaced()
    throws
  {
    let target = try TargetProcess.start("spin")
    var helper = testHelper()
    for round in 0..<30 {
      try helper.prepare()
      let helperID = helper.processID
      let killed = try #require(helperID)
      // Somewhere between the start of the helper and the end of a capture.
      var assassin = try TargetProcess(
        path: "/bin/sh", arguments: ["-c", "sleep 0.00\(round % 10); kill -KILL \(killed)"])
      for _ in 0..<20 { _ = try? helper.captureMain(target.processID) }
      _ = try assassin.waitForExit()
      #expect(eventually { (try? helper.captureMain(target.processID)) != nil })
    }
    let states = try threadStates(of: target.processID)
    #expect(states == [target.processID: "R"])
  }

  @Test func lateHelperIsKilledAndItsThreadRunsOn() throws {
    let target = try TargetProcess.start("spin")
    var helper = testHelper()
    _ = try helper.captureMain(target.processID)
    let helperID = helper.processID
    let stalled = try #require(helperID)
    kill(stalled, SIGSTOP)
    var failure: CaptureFailure?
    do { _ = try helper.captureMain(target.processID, deadline: .milliseconds(20)) } catch { failure = error }
    #expect(failure == .timedOut)
    let successor = helper.processID
    #expect(successor == nil)
    _ = try helper.captureMain(target.processID)
    #expect(eventually { hasEnded(stalled) })
    #expect(try threadStates(of: target.processID) == [target.processID: "R"])
  }

  @Test func endedThreadIsGone() throws {
    var helper = testHelper()
    var target = try TargetProcess.start("pause")
    target.signal(SIGKILL)
    _ = try target.waitForExit()
    var failure: CaptureFailure?
    do { _ = try helper.captureMain(target.processID) } catch { failure = error }
    #expect(failure == .gone)
  }

  @Test func targetMayDieAtAnyMoment() throws {
    var helper = testHelper()
    for round in 0..<50 {
      let target = try TargetProcess.start("spin")
      let killer = try TargetProcess(
        path: "/bin/sh", arguments: ["-c", "sleep 0.00\(round % 10); kill -KILL \(target.processID)"])
      var failure: CaptureFailure?
      while failure == nil {
        do { _ = try helper.captureMain(target.processID) } catch { failure = error }
      }
      #expect(failure == .gone)
      _ = consume killer
    }
  }

  @Test(
    "PT-10, PT-15: exec and exit may come at any moment of a capture",
    arguments: ["exec-loop", "thread-exec-loop", "thread-churn"])
  func identityMayChangeAtAnyMoment(program: String) throws {
    var target = try TargetProcess.start(program)
    var helper = testHelper()
    var captured = 0
    for _ in 0..<500 {
      for thread in try ThreadList.threads(of: target.processID) {
        let capture = try? helper.capture(
          processID: target.processID, threadID: thread, rules: CaptureRules(isDump: true))
        if capture != nil { captured += 1 }
      }
    }
    #expect(captured > 0)
    let isAlive = target.isAlive()
    #expect(isAlive)
    // Whatever a killed helper held is let go when its end is complete.
    #expect(
      try eventually { () throws(Errno) in
        try threadStates(of: target.processID).values.allSatisfy { $0 != "t" && $0 != "T" }
      })
  }

  @Test func tracedThreadIsLeftToItsTracer() throws {
    var tracer = try TargetProcess.start("traced")
    let traced = try #require(Int32(try tracer.readLine()))
    var helper = helperWithoutPerf()
    var failure: CaptureFailure?
    do { _ = try helper.captureMain(traced) } catch { failure = error }
    #expect(failure == .traced(by: tracer.processID))
  }

  @Test("UW-21: memory that nobody serves costs one helper") func memoryThatNobodyServesCostsOneHelper()
    throws
  {
    var target = try TargetProcess(path: builtProduct("TestTarget"), arguments: ["unserved-page"])
    guard try target.readLine() == "ready" else { return print("skipped: userfaultfd is not allowed") }
    let address = try #require(UInt64(try target.readLine()))
    var helper = testHelper()
    _ = try helper.captureMain(target.processID)
    let helperID = helper.processID
    let stuck = try #require(helperID)
    var failure: CaptureFailure?
    do {
      _ = try helper.readMemory(
        ofThread: target.processID, at: address, count: 8, deadline: .milliseconds(50))
    } catch { failure = error }
    #expect(failure == .timedOut)
    #expect(eventually { hasEnded(stuck) })
    let stackPointer = try helper.captureMain(target.processID).registers.stackPointer
    let bytes = try helper.readMemory(
      ofThread: target.processID, at: stackPointer, count: 8, deadline: patience)
    #expect(bytes.count == 8)
  }

  /// A stop would leave the sleeping thread spinning in the kernel for good.
  @Test("UW-21: a call that waits for a page is not stopped") func callThatWaitsForAPageIsNotStopped() throws
  {
    var target = try TargetProcess(path: builtProduct("TestTarget"), arguments: ["unserved-poll"])
    guard try target.readLine() == "ready" else { return print("skipped: userfaultfd is not allowed") }
    let path = "/proc/\(target.processID)/wchan"
    #expect(eventually { (try? readPseudoFile(path)) == Array("handle_userfault".utf8) })
    var helper = testHelper()
    #expect(try helper.captureMain(target.processID, CaptureRules(isDump: true)).way == .syscallFile)
    #expect(try readPseudoFile(path) == Array("handle_userfault".utf8))
  }

  private func hasEnded(_ processID: Int32) -> Bool {
    guard let states = try? threadStates(of: processID) else { return true }
    return states.isEmpty || states == [processID: "Z"]
  }
}
