// Made-up records of phases that took too long.

import Reports
import StallCore

/// A launch that was told and came to an end, and an end that was not reached.
func slowPhases() -> [(Double, RecordBody)] {
  var launch = stall(6, .ended, 2500, proof: .notSeenParked, onCPU: 2400)
  (launch.phase, launch.threshold) = (.launch, .seconds(2))
  var quit = stall(7, .ended, 6000, proof: .notOver)
  quit.breakdown.stolen = .milliseconds(900)
  quit.breakdown.blocked -= quit.breakdown.stolen
  (quit.phase, quit.threshold) = (.quit, .seconds(6))
  quit.surroundings = thrashing
  quit.probe = .unanswered(for: .milliseconds(5_800))
  launch.probe = .answered(after: .milliseconds(12))
  var perhaps = stall(8, .ended, 612, proof: .none)
  (perhaps.surroundings, perhaps.probe) = (thrashing, .answered(after: .milliseconds(12)))
  return [
    (14, .unverified(stallRecord(perhaps, at: 14, cause: nil))),
    (15, .stall(stallRecord(launch, at: 15, cause: nil))),
    (22, .stall(stallRecord(quit, at: 22, stacks: []))),
  ]
}

/// Everything at once.
private let thrashing: Surroundings = {
  func reading(_ at: Moment, _ throttled: Throttling, _ factor: Int) -> SurroundingsReading {
    SurroundingsReading(
      at: at.monotonic, throttled: throttled, stolen: .milliseconds(900 * factor),
      pressure: Pressure(
        cpu: .milliseconds(4000 * factor), memory: .milliseconds(3700 * factor),
        disk: .milliseconds(90 * factor)),
      majorFaults: UInt64(1204 * factor))
  }
  return Surroundings(
    from: reading(moment(0), Throttling(times: 0, time: .zero), 0),
    to: reading(moment(6), Throttling(times: 12, time: .milliseconds(430)), 1))
}()

func probeSummary() -> ProbeSummary {
  var log = ProbeLog()
  for milliseconds in [1, 2, 3, 1_200] as [Int64] {
    log.send(at: moment(0).monotonic)
    log.answer(at: moment(0).monotonic + .milliseconds(milliseconds))
  }
  log.fail()
  return ProbeSummary("http://localhost:8080/health", log)
}

func slowLaunch() -> PhaseCounts {
  var counts = PhaseCounts()
  var launch = stall(6, .ended, 2500)
  launch.phase = .launch
  counts.count(launch)
  return counts
}
