// Sees real loops come round that never sleep, and takes no foreign pass for one of theirs.

import Glibc
import Linux
import Observation
import StallCore
import TestSupport
import Testing

@Suite(.enabled(if: isBreakpointAllowed, "no breakpoints here")) struct PassMonitorTests {
  /// A loop and the monitor of its first thread, looked at again and again.
  private struct Watched: ~Copyable {
    var target: TargetProcess
    var monitor: PassMonitor
    let address: UInt64
    let stackPointer: UInt64

    init(_ kind: String) throws {
      var target = try TargetProcess.start("pass-loop", kind)
      let words = try target.readLine().split(separator: " ").compactMap { UInt64($0) }
      (address, stackPointer) = (words[0], words[1])
      monitor = PassMonitor(thread: target.processID)
      monitor.setHome(address: address, stackPointers: [stackPointer], wrappers: [])
      self.target = target
    }

    mutating func look() -> PassSight? {
      let text = try? readPseudoFile("/proc/\(target.processID)/schedstat")
      let statistics = text.flatMap { SchedulerStatistics($0.span) }
      let look = ThreadObservation(
        at: Instant(nanoseconds: Clock.monotonicNanoseconds), state: .running, activity: .running,
        cpuTime: .zero, runQueueDelay: .zero, timesScheduled: statistics?.timesScheduled ?? 0,
        voluntarySwitches: 0)
      return monitor.look(at: look, wait: nil, isHeldUp: false)
    }

    /// A look that may find it in a wait on another epoll than this one.
    mutating func look(_ observer: inout ProcObserver, besides home: Int32) throws -> PassSight? {
      let look = try observer.look(isAtWork: true) { _, _, _ in false }
      var wait: LoopWait?
      if case .blocked(let call) = look.activity {
        wait = call.arguments.first == UInt64(home) ? .home(call) : .foreign(call)
      }
      return monitor.look(at: look, wait: wait, isHeldUp: true)
    }

    /// Looks until it has seen so many passes.
    mutating func look(untilPasses count: Int) throws -> (seen: Int, last: PassSight?) {
      var seen = 0
      var last: PassSight?
      _ = eventually {
        last = look()
        seen += last?.count ?? 0
        return seen >= count
      }
      return (seen, last)
    }
  }

  @Test(
    "LOOP: passes of a loop are seen, whether it sleeps or not",
    arguments: ["quick", "loaded", "threads", "optimized"])
  func seesPasses(_ kind: String) throws {
    var watched = try Watched(kind)
    let began = Instant(nanoseconds: Clock.monotonicNanoseconds)
    let (seen, last) = try watched.look(untilPasses: 20)
    #expect(seen >= 20, "\(String(describing: watched.monitor.refusal))")
    let sight = try #require(last)
    #expect(sight.source == .breakpoint && sight.lastPassAfter == nil)
    #expect(try #require(sight.lastPass) >= began)
    #expect(watched.monitor.strangeStackPointer == nil)
  }

  @Test("LOOP: no pass is seen while one callback runs, and its end is exact") func oneLongCallback() throws {
    var watched = try Watched("callback")
    _ = try watched.look(untilPasses: 4)
    watched.target.signal(SIGUSR1)
    var sights: [PassSight] = []
    _ = try eventually { () throws -> Bool in
      if let sight = watched.look() { sights.append(sight) }
      return try watched.target.hasOutput()
    }
    let words = try watched.target.readLine().split(separator: " ").compactMap { Int64($0) }
    let (start, end) = (Instant(nanoseconds: words[0]), Instant(nanoseconds: words[1]))
    #expect(sights.allSatisfy { $0.lastPass.map { $0 <= start || $0 >= end } ?? true })
    let quiet = sights.compactMap(\.quietSince).filter { $0 < end }.max()
    #expect(try #require(quiet) < end)
    _ = try watched.look(untilPasses: 1)
    #expect(watched.look()?.lastPass.map { $0 >= end } == true)
  }

  @Test("LOOP: a foreign loop in the same function is nobody's pass until its stack is known as the home's")
  func nestedLoop() throws {
    var watched = try Watched("nested")
    _ = try watched.look(untilPasses: 1)
    watched.target.signal(SIGUSR1)
    let words = try watched.target.readLine().split(separator: " ")
    let nested = try #require(UInt64(words[1]))
    let before = Instant(nanoseconds: Clock.monotonicNanoseconds)
    #expect(
      eventually {
        _ = watched.look()
        return watched.monitor.strangeStackPointer == nested
      })
    _ = watched.look()
    #expect(watched.look()?.lastPass.map { $0 < before } == true)
    watched.monitor.setHome(
      address: watched.address, stackPointers: [watched.stackPointer, nested], wrappers: [])
    #expect(try watched.look(untilPasses: 3).seen >= 3)
  }

  /// What lies between the call and its return is known from a stack, or learned from the home's wait that the signal ends.
  @Test(
    "LOOP: a foreign loop in the same function that waits longer than from look to look ends no quiet",
    arguments: [true, false])
  func slowNestedLoop(_ isKnown: Bool) throws {
    var watched = try Watched("slow-nested")
    var observer = try ProcObserver(
      process: watched.target.processID, thread: watched.target.processID)
    let home = try #require(try watched.target.readLine().split(separator: " ").last.flatMap { Int32($0) })
    var call: BlockedCall?
    _ = try eventually {
      if case .blocked(let seen) = try observer.look(isAtWork: true, readMemory: { _, _, _ in false })
        .activity
      {
        call = seen
      }
      return call != nil
    }
    let parked = try #require(call)
    watched.monitor.setHome(
      address: watched.address, stackPointers: [watched.stackPointer],
      wrappers: isKnown
        ? [
          WaitWrapper(
            callProgramCounter: parked.programCounter, frameSize: watched.stackPointer - parked.stackPointer)
        ] : [])
    #expect(try eventually { try watched.look(&observer, besides: home)?.quietSince != nil })
    watched.target.signal(SIGUSR1)
    // The first line comes when the nested loop has begun, the second after half a second in it.
    let begin = try #require(Int64(try watched.target.readLine()))
    var quiet: [Instant] = []
    while try !watched.target.hasOutput() {
      if let since = try watched.look(&observer, besides: home)?.quietSince { quiet.append(since) }
      usleep(5_000)
    }
    #expect(try #require(quiet.last) <= Instant(nanoseconds: begin))
  }

  @Test(
    "EXEC-01: after an exec or the end nothing is seen and nothing is wrong", arguments: [SIGUSR1, SIGKILL])
  func goneThread(_ signal: Int32) throws {
    var watched = try Watched("exec")
    _ = try watched.look(untilPasses: 4)
    _ = eventually { watched.look()?.quietSince != nil }
    watched.target.signal(signal)
    if signal == SIGUSR1 { #expect(try watched.target.readLine() == "ready") }
    #expect(
      eventually {
        _ = watched.look()
        return !watched.monitor.hasHome || watched.monitor.refusal == .threadEnded
      })
    #expect(watched.look()?.quietSince == nil)
  }
}
