// Threads above the CPU threshold: found after a full window, told once, ended with hysteresis.

import StallCore
import Testing

@Suite struct BusyThreadDetectorTests {
  private func sample(_ thread: Int32, at seconds: Double, used: Double, start: UInt64 = 1) -> ThreadCPUSample
  {
    ThreadCPUSample(
      threadID: thread, startTicks: start, at: Instant(nanoseconds: Int64(seconds * 1e9)),
      cpuTime: .seconds(used))
  }

  private let detector = BusyThreadDetector(thresholdPercent: 70, window: .seconds(3))

  @Test func calmProcessNeedsNoScan() {
    var detector = detector
    let first = detector.isScanNeeded(processCPUTime: .seconds(1), at: Instant(nanoseconds: 0))
    let calm = detector.isScanNeeded(processCPUTime: .seconds(1.5), at: Instant(nanoseconds: 1_000_000_000))
    let busy = detector.isScanNeeded(processCPUTime: .seconds(2.4), at: Instant(nanoseconds: 2_000_000_000))
    #expect(!first && !calm && busy)
  }

  @Test func costlyChecksAreMadeLessOftenWhileTheyFindNothing() {
    var detector = detector
    func check(_ seconds: Int, used: Double) -> (isScanNeeded: Bool, next: Duration) {
      let interval = detector.calmInterval(costing: .milliseconds(2))
      return (
        detector.isScanNeeded(
          processCPUTime: .seconds(used), at: Instant(nanoseconds: 0) + .seconds(seconds)), interval
      )
    }
    let first = check(0, used: 0), calm = check(1, used: 0.1), busy = check(4, used: 3)
    #expect(first.next == .seconds(1) && calm.next == .seconds(3) && busy.next == .seconds(3))
    #expect(!first.isScanNeeded && !calm.isScanNeeded && busy.isScanNeeded)
    let cheap = [0, 1].map { detector.calmInterval(costing: .milliseconds($0)) }
    #expect(cheap == [.seconds(1), .seconds(2)])
    #expect(detector.scan([sample(1, at: 4, used: 3)]).isEmpty)
    #expect(check(5, used: 4).next == .seconds(1))
    #expect(detector.scan([sample(1, at: 7, used: 5.9)]).map(\.threadID) == [1])
    #expect(check(8, used: 6).next == .seconds(1))
  }

  @Test func busyThreadIsToldOnceAndEnds() {
    var detector = detector
    #expect(detector.scan([sample(1, at: 0, used: 0), sample(2, at: 0, used: 0)]).isEmpty)
    let busy = detector.scan([sample(1, at: 3, used: 2.7), sample(2, at: 3, used: 0.3)])
    #expect(busy.map(\.threadID) == [1] && busy[0].state == .busy && abs(busy[0].percent - 90) < 0.01)
    #expect(detector.scan([sample(1, at: 6, used: 5.4)]).isEmpty)
    #expect(detector.scan([sample(1, at: 9, used: 7.35)]).isEmpty)
    let ended = detector.scan([sample(1, at: 12, used: 8.0)])
    #expect(ended.map(\.state) == [.ended])
  }

  @Test("IDLE-03: how often a busy thread was put on a CPU, and how much the kernel worked for it")
  func switchesAndKernelShare() {
    var detector = detector
    var (before, after) = (sample(1, at: 0, used: 0), sample(1, at: 3, used: 3))
    (before.timesScheduled, after.timesScheduled) = (100, 130)
    (after.userTicks, after.kernelTicks) = (60, 240)
    _ = detector.scan([before])
    let busy = detector.scan([after])
    #expect(busy.first?.switchesPerSecond == 10 && busy.first?.kernelShare == 0.8)
  }

  @Test("PROC-10: a thread id that is used again starts anew") func reusedThreadIDStartsAnew() {
    var detector = detector
    _ = detector.scan([sample(7, at: 0, used: 100)])
    #expect(detector.scan([sample(7, at: 3, used: 2.9, start: 2)]).isEmpty)
  }

  @Test("PROC-10: a thread is never above one core nor below zero") func neverAboveOneCoreNorBelowZero() {
    var detector = detector
    _ = detector.scan([sample(1, at: 0, used: 5), sample(2, at: 0, used: 5)])
    let events = detector.scan([sample(1, at: 1, used: 9), sample(2, at: 1, used: 4)])
    #expect(events.map(\.percent) == [100])
  }

  @Test func threadsThatMayTurnOutToBeBusyAreFoundWithinTheWindow() {
    var detector = BusyThreadDetector(thresholdPercent: 70, window: .seconds(3))
    let start = sample(1, at: 0, used: 0).at
    #expect(!detector.isSearchUseful(at: start + .seconds(1)))
    _ = detector.scan([1, 2, 3, 4].map { sample($0, at: 0, used: 0) })
    #expect(!detector.isSearchUseful(at: start + .milliseconds(100)))
    #expect(detector.isSearchUseful(at: start + .seconds(1)))
    #expect(!detector.isSearchUseful(at: start + .seconds(3)))
    let later = [
      sample(1, at: 1, used: 0.8), sample(2, at: 1, used: 0.5), sample(3, at: 1, used: 0.9),
      sample(4, at: 1, used: 1, start: 2), sample(5, at: 1, used: 1),
    ]
    #expect(detector.suspects(later) == [3, 1])
    // The search has changed nothing of what is compared with.
    #expect(detector.scan([sample(1, at: 3, used: 2.4)]).map(\.threadID) == [1])
    #expect(detector.suspects([sample(1, at: 4, used: 3.4)]).isEmpty)
  }
}
