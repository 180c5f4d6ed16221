// Capturing threads of real programs through the helper process.

import Glibc
import Linux
import Stacks
import StallCore
import TestSupport
import Testing

func testHelper() -> CaptureHelper {
  CaptureHelper(executable: builtProduct("TestCaptureHelper"), arguments: [])
}

/// One to which the kernel refuses perf events, as it does to ordinary users by default on many systems.
func helperWithoutPerf() -> CaptureHelper {
  CaptureHelper(
    executable: builtProduct("TestTarget"),
    arguments: ["deny", "perf_event_open", "1", builtProduct("TestCaptureHelper")])
}

/// A time by which a helper on a busy machine has surely answered; the tests that need a miss give their own.
let patience = Duration.seconds(5)

extension CaptureHelper {
  mutating func captureMain(
    _ processID: Int32, _ rules: CaptureRules = CaptureRules(), deadline: Duration = patience
  ) throws(CaptureFailure) -> RawCapture {
    try capture(processID: processID, threadID: processID, rules: rules, deadline: deadline)
  }
}

@Suite struct CaptureTests {
  @Test(arguments: [
    (CaptureRules(), CaptureWay.ptrace), (CaptureRules(isParked: true), .syscallFile),
    (CaptureRules(mayStop: false), .syscallFile),
  ])
  func copiesStackOfBlockedThread(rules: CaptureRules, way: CaptureWay) throws {
    var target = try TargetProcess.start("pattern")
    let address = try #require(UInt64(try target.readLine()))
    _ = try eventually { () throws(Errno) in try threadStates(of: target.processID).values.contains("S") }
    var helper = testHelper()
    let snapshot = try helper.captureMain(target.processID, rules).snapshot()
    #expect(snapshot.way == way)
    #expect(snapshot.stackAddress == snapshot.registers.stackPointer - 128)
    let offset = Int(address - snapshot.stackAddress)
    #expect(snapshot.stackBytes[offset..<offset + 4096].allSatisfy { $0 == 0xA5 })
    #expect(snapshot.registers.programCounter != 0)
    #expect((snapshot.registers[Registers.framePointer] != nil) == (way == .ptrace))
    #expect((snapshot.stoppedFor > .zero) == (way == .ptrace))
    #expect(try eventually { try threadStates(of: target.processID) == [target.processID: "S"] })
  }

  /// More than the buffer has room for beside the rest.
  @Test(arguments: [0, 1, 4096, 1 << 20, 1 << 30])
  func copiesAsMuchAsIsAskedFor(bytes: Int) throws {
    let stack = try StoppedStack("walk-deep", "2000000")
    _ = try stack.capture()
    var helper = testHelper()
    let snapshot = try helper.capture(
      processID: stack.processID, threadID: stack.processID, rules: CaptureRules(), stackBytes: bytes,
      deadline: patience
    ).snapshot()
    let all = snapshot.morePieces.reduce(snapshot.stackBytes.count) { $0 + $1.bytes.count }
    #expect(all >= min(bytes, 1 << 20))
    #expect(snapshot.stackBytes.count <= bytes)
  }

  @Test(
    "PT-18: a running thread is captured without a stop", .enabled(if: isSamplingAllowed, "no perf events"))
  func samplesRunningThread() throws {
    let target = try TargetProcess.start("spin")
    var helper = testHelper()
    for mayStop in [true, false] {
      let snapshot = try helper.captureMain(target.processID, CaptureRules(mayStop: mayStop)).snapshot()
      #expect(snapshot.way == .perf && snapshot.stoppedFor == .zero)
      #expect(snapshot.stackAddress == snapshot.registers.stackPointer)
      #expect(!snapshot.stackBytes.isEmpty && snapshot.registers.programCounter != 0)
      for number in 0..<Registers.count { #expect(snapshot.registers[number] != nil) }
    }
    #expect(try threadStates(of: target.processID)[target.processID] == "R")
  }

  @Test("PT-18: a running thread is captured and runs on where perf events are refused")
  func capturesRunningThread() throws {
    let target = try TargetProcess.start("spin")
    var helper = helperWithoutPerf()
    let snapshot = try helper.captureMain(target.processID).snapshot()
    #expect(snapshot.way == .ptrace)
    #expect(!snapshot.stackBytes.isEmpty)
    let failure = #expect(throws: CaptureFailure.self) {
      var helper = helperWithoutPerf()
      _ = try helper.captureMain(target.processID, CaptureRules(mayStop: false))
    }
    // On a busy machine there may be no time to ask for a sample at all.
    if case .runningUnsampled = failure {} else { #expect(failure == .running) }
    let states = try threadStates(of: target.processID)
    #expect(states[target.processID] == "R")
  }

  @Test func readsMapsAndCommandLine() throws {
    let target = try TargetProcess.start("pause")
    var helper = testHelper()
    let maps = try helper.readMaps(
      processID: target.processID, threadID: target.processID, deadline: patience)
    #expect(String(decoding: try maps.bytes(limit: 1 << 20), as: UTF8.self).contains("/TestTarget\n"))
    let line = try helper.readCommandLine(processID: target.processID, deadline: patience).bytes(limit: 4096)
    #expect(line.suffix(6) == Array("pause\0".utf8))
    #expect(throws: CaptureFailure.gone) {
      var helper = testHelper()
      _ = try helper.readCommandLine(processID: 999_999_999)
    }
  }

  /// The policy sees `epoll_wait` and stops the thread only in its 10 µs of work, from which it sometimes enters the
  /// call before the stop lands.
  @Test("PT-01: a loop in epoll_wait sees no interruption") func epollLoopSeesNoInterruption() throws {
    var target = try TargetProcess.start("epoll-loop")
    let counters = try #require(UInt64(try target.readLine()))
    var helper = helperWithoutPerf()
    var captured = 0
    for _ in 0..<2_000 where (try? helper.captureMain(target.processID)) != nil { captured += 1 }
    #expect(captured > 1_000)
    #expect(try readWord(of: target.processID, at: counters) > 0)
    #expect(try readWord(of: target.processID, at: counters + 8) == 0)
  }

  @Test("PT-01: a program that aborts on an interruption lives") func programThatAbortsOnInterruptionLives()
    throws
  {
    var target = try TargetProcess.start("epoll-loop", "abort")
    var helper = helperWithoutPerf()
    for _ in 0..<1_000 { _ = try? helper.captureMain(target.processID, CaptureRules(isDump: true)) }
    let isAlive = target.isAlive()
    #expect(isAlive)
  }

  @Test("PT-03: no signal is lost") func noSignalIsLost() throws {
    var target = try TargetProcess.start("signal-storm", "2000")
    var helper = helperWithoutPerf()
    var ways: Set<CaptureWay> = []
    for _ in 0..<500 {
      if let capture = try? helper.captureMain(target.processID) { ways.insert(capture.way) }
    }
    #expect(ways.contains(.ptrace))
    let counts = try target.readLine()
    #expect(counts == "2000 0")
  }

  @Test func stoppedThreadStaysStopped() throws {
    let target = try TargetProcess.start("pause")
    target.signal(SIGSTOP)
    func waitForState(_ state: Character) throws -> Bool {
      try eventually { () throws(Errno) in try threadStates(of: target.processID).values.first == state }
    }
    #expect(try waitForState("T"))
    var helper = testHelper()
    // Let go, it runs for a moment until it has stopped again; a look may fall into that.
    var ways: Set<CaptureWay> = []
    for _ in 0..<20 {
      ways.insert(try helper.captureMain(target.processID, CaptureRules(isDump: true)).way)
    }
    #expect(ways.contains(.ptrace))
    #expect(try waitForState("T"))
    let watched = try helper.captureMain(target.processID)
    #expect(watched.way == .syscallFile)
    target.signal(SIGCONT)
    #expect(try waitForState("S"))
  }
}
