// Captures among signals: those of the target, and those that interrupt whoever captures.

import Glibc
import Linux
import StallCore
import Synchronization
import TestSupport
import Testing

@testable import Stacks

@Suite(.serialized) struct CaptureSignalTests {
  @Test("PT-04: a thread that gets a signal every millisecond is captured every time, and gets them all")
  func timerSignals() throws {
    var target = try TargetProcess.start("timer-signals")
    let counter = try #require(UInt64(try target.readLine()))
    var helper = testHelper()
    var ways: Set<CaptureWay> = []
    for _ in 0..<200 { ways.insert(try helper.captureMain(target.processID, CaptureRules(isDump: true)).way) }
    #expect(ways.contains(.ptrace))
    let seen = try readWord(of: target.processID, at: counter)
    #expect(try eventually { try readWord(of: target.processID, at: counter) > seen })
    #expect(try eventually { try tracer(of: target.processID) == 0 })
  }

  @Test(
    "PT-11, PT-18, PT-25: a capture whose own calls are interrupted still lets the thread go",
    arguments: ["spin", "pause"])
  func interruptedCapture(_ program: String) throws {
    let target = try TargetProcess.start(program)
    let pest = try Pest()
    let buffer = CopyBuffer()
    for _ in 0..<2_000 { _ = try PtraceCapture.take(target.processID, buffer: buffer, limit: 4096) }
    #expect(pest.signalsReceived > 0)
    #expect(try tracer(of: target.processID) == 0)
    let expected: Character = program == "spin" ? "R" : "S"
    #expect(try eventually { try threadStates(of: target.processID) == [target.processID: expected] })
  }

  /// A trace belongs to the OS thread that seized: that is the helper's only one, whoever asks.
  @Test("PT-12: captures can be asked for by any thread of a concurrent program")
  func askedByManyThreads() async throws {
    let target = try TargetProcess.start("spin")
    let process = target.processID
    let helper = SharedHelper()
    let captured = await withTaskGroup { group in
      for _ in 0..<8 {
        group.addTask { @concurrent in (0..<50).count { _ in helper.capture(process) } }
      }
      return await group.reduce(0, +)
    }
    #expect(captured == 400)
    #expect(try tracer(of: process) == 0)
    _ = consume target
  }

  private func tracer(of process: Int32) throws -> Int32? {
    try ProcessStatus(path: "/proc/\(process)/status").tracer
  }
}

private final class SharedHelper: Sendable {
  private let helper = Mutex(helperWithoutPerf())

  func capture(_ process: Int32) -> Bool {
    helper.withLock { (try? $0.captureMain(process))?.way == .ptrace }
  }
}

/// Interrupts the thread that made it every 50 µs, as long as it lives.
private final class Pest {
  private static let received = Atomic<Int>(0)
  private let ends = Pest.Flag()

  private final class Flag: Sendable { let isSet = Atomic<Bool>(false) }

  init() throws {
    Pest.received.store(0, ordering: .relaxed)
    // Without SA_RESTART, so that calls fail with EINTR.
    var action = sigaction()
    unsafe action.__sigaction_handler.sa_handler = { _ in _ = Pest.received.add(1, ordering: .relaxed) }
    unsafe sigaction(SIGALRM, &action, nil)
    // Threads of a pool block them all.
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGALRM)
    unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    let ends = ends
    let victim = PestVictim(thread: pthread_self())
    try startThread(name: "pest") {
      while !ends.isSet.load(ordering: .acquiring) {
        pthread_kill(victim.thread, SIGALRM)
        usleep(50)
      }
    }
  }

  deinit { ends.isSet.store(true, ordering: .releasing) }

  var signalsReceived: Int { Pest.received.load(ordering: .relaxed) }
}

private struct PestVictim: Sendable { let thread: pthread_t }
