// When a thread was last put on a CPU: what exact starts of work and of blocks are counted from.

package struct ProcessorArrival: Hashable, Sendable {
  package var at: Instant
  /// Its CPU time at that moment.
  package var cpuTime: Duration

  package init(at: Instant, cpuTime: Duration) {
    self.at = at
    self.cpuTime = cpuTime
  }
}

extension ThreadObservation {
  /// It was still on the CPU at this moment: what the hypervisor stole meanwhile comes on top.
  package var ranUntil: Instant? { arrival.map { $0.at + (cpuTime - $0.cpuTime) } }

  /// What was measured before the arrival is as exact as the run itself was undisturbed; clocks add some microseconds.
  private static let clockTolerance: Duration = .microseconds(200)

  /// How much later than the truth `blockedSince` can be, where the arrival bounds it from the other side.
  var toleranceByArrival: Duration? {
    guard let ranUntil, let blockedSince else { return nil }
    return max(.zero, blockedSince - ranUntil) + Self.clockTolerance
  }

  /// What the hypervisor may have taken from a run of this length: CPU time lacks it.
  static func mostStolen(ofRun work: Duration) -> Duration { .milliseconds(5) + work / 20 }

  /// When a thread that had slept in `parked` and has not slept since, but for its present block, was woken: its last
  /// arrival, less what it ran and waited before that. Unlike what is counted back from now, it does not depend on how
  /// fresh the run time is, and lacks only what was stolen from earlier runs.
  func wakeUp(from parked: ThreadObservation) -> (earliest: Instant, likely: Instant)? {
    guard let arrival, parked.isBlocked, arrival.at > parked.at, arrival.cpuTime >= parked.cpuTime,
      voluntarySwitches &- parked.voluntarySwitches == (isBlocked ? 1 : 0)
    else { return nil }
    let ran = arrival.cpuTime - parked.cpuTime
    let woken = max(parked.at, arrival.at - ran - (runQueueDelay - parked.runQueueDelay))
    let isFirstRun = timesScheduled &- parked.timesScheduled == 1
    let stolen: Duration = isFirstRun ? .zero : Self.mostStolen(ofRun: ran)
    return (max(parked.at, woken - stolen - Self.clockTolerance), woken)
  }
}
