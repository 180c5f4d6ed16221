// Copying threads by what the task iterator shows of them: the same as in a stop, of one moment, and unnoticed.

import CLinux
import Glibc
import Linux
import Observation
import StallCore
import TestSupport
import Testing

@testable import Stacks

/// Copies one thread as a watch does.
private struct IteratorCamera: ~Copyable {
  let processID: Int32
  let threadID: Int32
  private var helper: CaptureHelper
  private var sampler: TaskSampler
  private(set) var moves = 0

  init(_ processID: Int32, thread: Int32? = nil) throws {
    let threadID = thread ?? processID
    let sampler = try TaskProgram(process: processID).sampler(of: threadID)
    self.processID = processID
    self.threadID = threadID
    self.sampler = sampler
    helper = testHelper()
  }

  /// Nil: it was on a CPU, or has moved. `pause`: for so many microseconds after its registers were read.
  mutating func capture(pause: UInt32 = 0) throws -> RawCapture? {
    guard let sample = try sampler.sample(), let blocked = BlockedRegisters(sample.thread) else { return nil }
    if pause > 0 { usleep(pause) }
    do {
      return try helper.capture(
        processID: processID, threadID: threadID, rules: CaptureRules(), blocked: blocked, deadline: patience)
    } catch {
      guard error == .moved else { throw error }
      moves += 1
      return nil
    }
  }

  mutating func captureAtLast() throws -> RawCapture {
    for _ in 0..<10_000 {
      if let capture = try capture() { return capture }
      usleep(1_000)
    }
    throw Errno.timedOut
  }
}

@Suite(.enabled(if: isTaskIteratorExpected, "the task iterator needs root, Linux 5.15 and its types"))
struct IteratorCaptureTests {
  private func addresses(_ snapshot: ThreadSnapshot, in space: AddressSpace) -> [UInt64] {
    Unwinder().walk(snapshot, in: space).frames.map(\.frame.programCounter)
  }

  @Test(
    "a copy without a stop is that of a stop",
    arguments: [
      "epoll", "epoll-pwait2", "poll", "select", "signal", "pause", "timer", "counter", "inotify", "accept",
      "datagram", "queue", "join", "condition", "stream", "coroutine",
    ])
  func sameAsInAStop(_ kind: String) throws {
    let target = try TargetProcess.start("idle", kind)
    var camera = try IteratorCamera(target.processID)
    var copy = try camera.captureAtLast().snapshot()
    var stopped = try CapturedTarget(processID: target.processID, threadID: target.processID)
    // It may not have come to its wait yet.
    for _ in 0..<1_000 where copy.registers.stackPointer != stopped.snapshot.registers.stackPointer {
      copy = try camera.captureAtLast().snapshot()
      stopped = try CapturedTarget(processID: target.processID, threadID: target.processID)
    }
    #expect(copy.way == .taskIterator && copy.stoppedFor == .zero)
    // All but rax, in which the stop leaves that it has interrupted a call.
    for number in 1..<Registers.count {
      #expect(copy.registers[number] == stopped.snapshot.registers[number], "\(number)")
    }
    let count = min(copy.stackBytes.count, stopped.snapshot.stackBytes.count)
    #expect(copy.stackAddress == stopped.snapshot.stackAddress && count > 128)
    // What lies below the stack pointer is nobody's.
    #expect(copy.stackBytes[128..<count] == stopped.snapshot.stackBytes[128..<count])
    #expect(addresses(copy, in: stopped.space) == addresses(stopped.snapshot, in: stopped.space))
  }

  @Test("PT-01: a loop in epoll_wait is copied a thousand times, and sees neither a stop nor an interruption")
  func loopSeesNothing() throws {
    var target = try TargetProcess.start("epoll-loop", "abort")
    let counters = try #require(UInt64(try target.readLine()))
    var camera = try IteratorCamera(target.processID)
    for round in 0..<1_000 {
      #expect(try camera.captureAtLast().way == .taskIterator)
      if round % 50 == 0 {
        #expect(try ProcessStatus(path: "/proc/\(target.processID)/status").tracer == 0)
      }
    }
    #expect(try readWord(of: target.processID, at: counters) > 0)
    #expect(try readWord(of: target.processID, at: counters + 8) == 0)
    let isAlive = target.isAlive()
    #expect(isAlive)
  }

  /// Whole or not at all, whenever it moves: also where a stack is longer than what is copied at once.
  @Test("UW-22: a thread that wakes every millisecond has no torn stack", arguments: [false, true])
  func mixesNoTwoMoments(_ inSecondThread: Bool) throws {
    let stack = try StoppedStack("walk-naps")
    let space = try CapturedTarget(processID: stack.processID, threadID: stack.processID).space
    let threads = try ThreadList.threads(of: stack.processID)
    let thread = try #require(threads.first { ($0 != stack.processID) == inSecondThread })
    var camera = try IteratorCamera(stack.processID, thread: thread)
    // It may not have come to its naps yet.
    var walk = Unwinder().walk(try camera.captureAtLast().snapshot(), in: space)
    while !stack.names(walk, in: space).contains("nap") {
      walk = Unwinder().walk(try camera.captureAtLast().snapshot(), in: space)
    }
    let chains: Set = [["nap", "wide_b", "wide_a"], ["nap", "nap_z", "nap_y", "nap_x"]]
    var seen: Set<[String]> = []
    var copies = 0
    for round in 0..<2_000 {
      guard let capture = try camera.capture(pause: UInt32(round % 4) * 300) else { continue }
      walk = Unwinder().walk(try capture.snapshot(), in: space)
      let names = Array(stack.names(walk, in: space).prefix { $0 != "nap_and_nap" })
      // Between two naps it may be seen on the way, waiting for a CPU.
      #expect(chains.contains { $0.suffix(names.count) == names[...] }, "\(names)")
      #expect(walk.end == .root && walk.frames.allSatisfy { $0.frame.trust == .exact })
      let usedLaterBytes = walk.usedLaterBytes
      #expect(!usedLaterBytes)
      if chains.contains(names) { seen.insert(names) }
      copies += 1
    }
    let moves = camera.moves
    #expect(seen == chains && copies > 100 && moves > 100, "\(copies) copies, moved \(moves) times")
  }

  @Test func aDeepStackIsCopiedWhole() throws {
    let stack = try StoppedStack("walk-deep", "\(1 << 20)")
    let space = try stack.capture().space
    var camera = try IteratorCamera(stack.processID)
    let snapshot = try camera.captureAtLast().snapshot()
    #expect(snapshot.morePieces.map(\.isLater) == [false])
    let walk = Unwinder().walk(snapshot, in: space, limit: 100_000)
    #expect(walk.end == .root)
    #expect(stack.names(walk, in: space).filter { $0 == "recurse" }.count == 129)
  }

  @Test func whatASignalInterruptedOnAnotherStackIsCopiedToo() throws {
    let stack = try StoppedStack("walk-alternate-stack")
    let space = try stack.capture().space
    var camera = try IteratorCamera(stack.processID)
    let walk = Unwinder().walk(try camera.captureAtLast().snapshot(), in: space)
    let names = stack.names(walk, in: space)
    #expect(names.starts(with: ["innermost", "stop_in_handler", "signal"]) && walk.end == .root, "\(names)")
  }

  @Test("PT-07: a thread in an uninterruptible wait has an exact stack") func uninterruptibleThread() throws {
    let target = try TargetProcess.start("vfork-parent")
    func isInDiskWait() throws -> Bool { try threadStates(of: target.processID).values.contains("D") }
    #expect(try eventually { try isInDiskWait() })
    var camera = try IteratorCamera(target.processID)
    let snapshot = try camera.captureAtLast().snapshot()
    #expect(try isInDiskWait())
    #expect(snapshot.way == .taskIterator && snapshot.registers[Registers.framePointer] != nil)
    let space = AddressSpace(
      map: try MemoryMap(processID: target.processID),
      image: TargetFiles(processID: target.processID).image(for:))
    #expect(Unwinder().walk(snapshot, in: space).end == .root)
  }

  @Test("PROC-04: a thread of another pid namespace is copied by our ids") func nestedNamespace() throws {
    var launcher = try TargetProcess(
      path: "/usr/bin/unshare",
      arguments: ["--pid", "--fork", "--kill-child", builtProduct("TestTarget"), "idle", "epoll"])
    #expect(try launcher.readLine() == "ready")
    let children = try readPseudoFile("/proc/\(launcher.processID)/task/\(launcher.processID)/children")
    var position = 0
    let child = Int32(truncatingIfNeeded: children.span.decimal(at: &position) ?? 0)
    var camera = try IteratorCamera(child)
    let copy = try camera.captureAtLast().snapshot()
    let stopped = try CapturedTarget(processID: child, threadID: child)
    #expect(addresses(copy, in: stopped.space) == addresses(stopped.snapshot, in: stopped.space))
  }

  @Test("PT-08: a frozen thread is copied, and stays frozen") func frozenThread() throws {
    guard let freezer = Freezer() else { return print("skipped: no cgroup of our own is allowed") }
    let target = try TargetProcess.start("idle", "poll")
    // Frozen it could not even be killed.
    defer { freezer.thaw() }
    try freezer.freeze(target.processID)
    var sampler = try TaskProgram(process: target.processID).sampler(of: target.processID)
    #expect(try eventually { try sampler.sample()?.isFrozen == true })
    var camera = try IteratorCamera(target.processID)
    #expect(try camera.captureAtLast().stoppedFor == .zero)
    #expect(try sampler.sample()?.isFrozen == true)
  }

  @Test("a traced thread is copied, and its tracer keeps it") func tracedThread() throws {
    let target = try TargetProcess.start("idle", "epoll")
    func tracer() throws -> Int32? { try ProcessStatus(path: "/proc/\(target.processID)/status").tracer }
    try Ptrace.seize(target.processID)
    let ours = try tracer()
    var camera = try IteratorCamera(target.processID)
    #expect(try camera.captureAtLast().way == .taskIterator)
    #expect(try tracer() == ours && ours != 0)
  }

  @Test(
    "PT-10, PT-15: exec and exit may come at any moment of a copy",
    arguments: ["exec-loop", "thread-exec-loop", "thread-churn"])
  func identityMayChange(_ program: String) throws {
    var target = try TargetProcess.start(program)
    let process = target.processID
    let program = try TaskProgram(process: process)
    var helper = testHelper()
    for _ in 0..<500 {
      for thread in try ThreadList.threads(of: process) {
        var sampler = try program.sampler(of: thread)
        guard let sample = try sampler.sample(), let blocked = BlockedRegisters(sample.thread) else {
          continue
        }
        let capture = try? helper.capture(
          processID: process, threadID: thread, rules: CaptureRules(), blocked: blocked)
        #expect(capture == nil || capture?.way == .taskIterator)
      }
    }
    let isAlive = target.isAlive()
    #expect(isAlive)
  }

  @Test func endedThreadIsGone() throws {
    var target = try TargetProcess.start("idle", "pause")
    var sampler = try TaskProgram(process: target.processID).sampler(of: target.processID)
    var blocked: BlockedRegisters?
    #expect(
      try eventually {
        blocked = try sampler.sample().flatMap { BlockedRegisters($0.thread) }
        return blocked != nil
      })
    target.signal(SIGKILL)
    _ = try target.waitForExit()
    var failure: CaptureFailure?
    var helper = testHelper()
    do {
      _ = try helper.capture(
        processID: target.processID, threadID: target.processID, rules: CaptureRules(), blocked: blocked,
        deadline: patience)
    } catch { failure = error }
    #expect(failure == .gone)
  }
}

@Suite struct BlockedRegistersTests {
  private func registers(_ change: (inout clinux_thread_sample) -> Void) throws -> BlockedRegisters? {
    var raw = clinux_thread_sample()
    // `__USER_CS` (arch/x86/include/asm/segment.h).
    (raw.is_off_processor, raw.registers.17) = (1, 0x33)
    (raw.thread, raw.times_scheduled, raw.run_time, raw.registers.19) = (7, 8, 9, 10)
    change(&raw)
    let sample = unsafe withUnsafeBytes(of: raw) { unsafe ThreadSample($0.bytes, at: 0) }
    return BlockedRegisters(try #require(sample))
  }

  @Test func onlyOfThreadsThatStandStillAndAreOfTheProgram() throws {
    let blocked = try #require(try registers { _ in })
    #expect(blocked.threadID == 7 && blocked.timesScheduled == 8 && blocked.registers.stackPointer == 10)
    #expect(try registers { $0.is_off_processor = 0 } == nil)
    #expect(try registers { $0.exit_state = 0x20 } == nil)
    #expect(try registers { $0.registers.17 = 0x23 } == nil)
    // Workers of io_uring have inherited what they show (PF_IO_WORKER).
    #expect(try registers { $0.flags = 0x10 } == nil)
  }

  @Test func surviveTheWayToTheHelper() throws {
    let blocked = try #require(try registers { $0.registers.16 = .max })
    var request = CaptureRequest(kind: .thread, processID: 7, threadID: 7)
    #expect(request.blocked == nil)
    request.blocked = blocked
    let decoded = try #require(CaptureRequest(decoding: request.encoded()))
    #expect(decoded == request && decoded.blocked == blocked)
    request.bytes.removeLast()
    #expect(request.blocked == nil)
    request.bytes += [0, 0]
    #expect(request.blocked == nil)
  }

  @Test func anotherThreadOfTheSameIdHasMoved() throws {
    let blocked = try #require(try registers { _ in })
    let texts = ["9 5 8", "9 6 8", "9 5 9", "10 5 8"].map { Array($0.utf8) }
    #expect(
      texts.map { SchedulerStatistics($0.span).map { blocked.hasNotMoved(until: $0) } } == [
        true, true, false, false,
      ])
  }
}
