// Surroundings: what is read when, what is added up, and what of a stall it explains.

import StallCore
import Testing

private func reading(
  _ milliseconds: Int64, throttled: (UInt64, Int64)? = nil, stolen: Int64? = nil, memory: Int64? = nil,
  faults: UInt64 = 0
) -> SurroundingsReading {
  SurroundingsReading(
    at: Instant(nanoseconds: milliseconds * 1_000_000),
    throttled: throttled.map { Throttling(times: $0.0, time: .milliseconds($0.1)) },
    stolen: stolen.map { .milliseconds($0) }, pressure: Pressure(memory: memory.map { .milliseconds($0) }),
    majorFaults: faults)
}

private func stall(_ proof: PassProof, onCPU: Int64, runnable: Int64, blocked: Int64) -> Stall {
  var parts = TimeBreakdown()
  (parts.onCPU, parts.runnable, parts.blocked) =
    (.milliseconds(onCPU), .milliseconds(runnable), .milliseconds(blocked))
  let likely = parts.onCPU + parts.runnable + parts.blocked
  return Stall(
    id: 1, state: .ended, threshold: .milliseconds(500), startedAt: Instant(nanoseconds: 0),
    duration: DurationEstimate(likely: likely, atLeast: likely, atMost: likely), proof: proof,
    breakdown: parts)
}

@Suite struct StallSurroundingsTests {
  @Test func onlyWhatWasAddedCounts() {
    let sum = Surroundings(
      from: reading(1000, throttled: (5, 400), stolen: 70, memory: 1, faults: 10),
      to: reading(2000, throttled: (17, 830), stolen: 70, memory: 601, faults: 1200))
    #expect(sum.over == .seconds(1))
    #expect(sum.throttled == Throttling(times: 12, time: .milliseconds(430)))
    #expect(sum.stolen == .zero && sum.majorFaults == 1190)
    #expect(sum.pressure == Pressure(memory: .milliseconds(600)))
    #expect(sum.highShares().memory == 0.6 && sum.highShares().disk == nil)
  }

  @Test func counterThatGoesBackIsNothing() {
    let sum = Surroundings(
      from: reading(2000, throttled: (17, 830), stolen: 70, memory: 600, faults: 9),
      to: reading(1000, throttled: (5, 4), stolen: 7, memory: 1))
    #expect(sum.over == .zero && sum.stolen == .zero && sum.majorFaults == 0)
    #expect(sum.throttled == Throttling(times: 0, time: .zero) && sum.highShares().memory == nil)
  }

  @Test("TIME-06: stolen time is told only of a thread that never slept, and never more than was stolen")
  func stolenTimeIsToldOnlyOfAThreadThatNeverSlept() {
    let stolen = Surroundings(from: reading(0, stolen: 0), to: reading(1000, stolen: 200))
    for (proof, blocked, expected) in [
      (PassProof.neverSlept, 300, 200), (.neverSlept, 50, 50), (.didNotMove, 900, 0), (.none, 300, 0),
    ] as [(PassProof, Int64, Int64)] {
      var stall = stall(proof, onCPU: 400, runnable: 100, blocked: blocked)
      let likely = stall.duration.likely
      stall.put(stolen)
      let parts = stall.breakdown
      #expect(parts.stolen == .milliseconds(expected))
      #expect(parts.onCPU + parts.runnable + parts.blocked + parts.stolen + parts.blind == likely)
    }
  }

  @Test func nothingIsReadBeforeASpellLasts() {
    var watch = SurroundingsWatch(interval: .milliseconds(50))
    var readings = 0
    func read() -> SurroundingsReading {
      readings += 1
      return reading(Int64(readings) * 1000)
    }
    func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }
    for look in 0..<100 { watch.observe(spellStart: nil, at: at(Int64(look) * 100), read: read) }
    watch.observe(spellStart: at(0), at: at(50), read: read)
    #expect(readings == 0)
    #expect(
      watch.surrounded(.report(stall(.neverSlept, onCPU: 1, runnable: 0, blocked: 0)), read: read)
        == .report(stall(.neverSlept, onCPU: 1, runnable: 0, blocked: 0)))
    for moment in stride(from: 100, to: 600, by: 50) as StrideTo<Int64> {
      watch.observe(spellStart: at(0), at: at(moment), read: read)
    }
    #expect(readings == 1)
    guard
      case .report(let stall) = watch.surrounded(
        .report(stall(.neverSlept, onCPU: 1, runnable: 0, blocked: 0)), read: read)
    else { return }
    #expect(readings == 2 && stall.surroundings?.over == .seconds(1))
    // Other work: what came before it is not its matter.
    watch.observe(spellStart: at(2000), at: at(2010), read: read)
    #expect(readings == 2)
    watch.observe(spellStart: at(2000), at: at(2200), read: read)
    #expect(readings == 3)
  }
}
