// For how much of the time of a stall its samples stand.

/// Where the time between two looks went, as far as stacks can be told for it. The parts add up to that time.
package struct SampledTime: Sendable, Equatable {
  /// For each sample of the running thread that came meanwhile.
  package var eachSample: Duration = .zero
  /// Blocked where this look finds it.
  package var here: Duration = .zero
  /// Blocked where the look before has found it.
  package var before: Duration = .zero
  /// Samples that were lost, and sleeps that no look has seen.
  package var unseen: Duration = .zero

  package init() {}
}

/// Built from looks alone. Time on a CPU, or waiting for one, belongs to the samples that come while it passes; blocked
/// time to the block in which looks find the thread.
package struct SampleClock: Sendable {
  private var last: ThreadObservation
  /// Time on a CPU, or waiting for one, since the last sample.
  package private(set) var unsampled: Duration = .zero
  /// A capture has just stopped the thread, which counts as if it had moved.
  private var wasStopped = false

  /// Time counts from this look on.
  package init(from look: ThreadObservation) { last = look }

  /// It is still in the block in which the last look has found it.
  package func isInSameBlock(_ look: ThreadObservation) -> Bool {
    look.hasNotMoved(since: last) || wasStopped && look.isBlocked && look.isAtSamePlace(as: last)
  }

  /// - Parameters:
  ///   - blockedSince: when the block of this look began, if that is known.
  ///   - end: the stall was over before the look, at that moment; where the look finds the thread is no part of it.
  package mutating func advance(
    to look: ThreadObservation, blockedSince: Instant? = nil, samples: Int, lost: Int = 0,
    until end: Instant? = nil
  ) -> SampledTime {
    defer { (last, wasStopped) = (look, false) }
    var time = SampledTime()
    // The clock of a stall stands still meanwhile.
    if look.state.isPaused || last.state.isPaused { return time }
    let passed = max(.zero, min(look.at, end ?? look.at) - last.at)
    let isSame = isInSameBlock(look) && end == nil
    let ran = max(.zero, look.cpuTime - last.cpuTime) + max(.zero, look.runQueueDelay - last.runQueueDelay)
    let running = isSame ? .zero : min(passed, ran)
    split(passed - running, look, end == nil ? blockedSince : look.at, isSame: isSame, into: &time)
    unsampled += running
    if samples + lost > 0 {
      time.eachSample = unsampled / (samples + lost)
      time.unseen += unsampled - time.eachSample * samples
      unsampled = .zero
    }
    return time
  }

  private func split(
    _ blocked: Duration, _ look: ThreadObservation, _ blockedSince: Instant?, isSame: Bool,
    into time: inout SampledTime
  ) {
    let sleeps = look.voluntarySwitches &- last.voluntarySwitches
    if isSame {
      time.here = blocked
    } else if look.isBlocked, let blockedSince {
      time.here = min(blocked, max(.zero, look.at - max(blockedSince, last.at)))
    } else if look.isBlocked, sleeps == 0 || sleeps == 1 && !last.isBlocked {
      time.here = blocked
    }
    let rest = blocked - time.here
    if last.isBlocked, sleeps <= (look.isBlocked ? 1 : 0) { time.before = rest } else { time.unseen = rest }
  }

  /// What was seen right after a capture that stopped the thread. The time goes on from the look before.
  package mutating func absorb(_ look: ThreadObservation) {
    wasStopped = look.isAtSamePlace(as: last) || last.isBlocked && !look.isBlocked
    let (at, activity, state) = (last.at, last.activity, last.state)
    last = look
    (last.at, last.activity, last.state) = (at, activity, state)
  }

  /// A copy that was made of the running thread by other means stands for the time since the last sample.
  package mutating func takeUnsampled() -> Duration {
    defer { unsampled = .zero }
    return unsampled
  }
}
