// Times in which the watch itself did not look when it meant to, and what they leave of what was seen before.

package enum WatchGap: Sendable, Equatable {
  /// We were ready to run, and others had the CPU.
  case starved(Duration)
  /// A signal stopped us, and another one let us go on.
  case stopped(Duration)
  /// We stood still and nothing of our own tells why: our cgroup was frozen, or the machine stood still.
  case held(Duration)
  /// The machine slept: so long that the monotonic clock does not know of it.
  case suspended(Duration)

  package var duration: Duration {
    switch self {
    case .starved(let time), .stopped(let time), .held(let time), .suspended(let time): time
    }
  }

  /// The program can have stood still with us: that it did not move says nothing of its own doing.
  package var isShared: Bool {
    switch self {
    case .starved, .stopped: false
    case .held, .suspended: true
    }
  }
}

/// One wait of ours for the next look, and the clocks behind it.
package struct OwnWait: Sendable {
  package var began: Instant
  package var dueAt: Instant
  package var endedAt: Instant
  /// What the clock that goes on in a sleep of the machine was ahead of the one that does not: at least and at most,
  /// since the two cannot be read at one moment.
  package var sleptInAll: ClosedRange<Int64>
  /// A signal has let us go on meanwhile.
  package var wasContinued: Bool

  package init(
    began: Instant, dueAt: Instant, endedAt: Instant, sleptInAll: ClosedRange<Int64>, wasContinued: Bool
  ) {
    self.began = began
    self.dueAt = dueAt
    self.endedAt = endedAt
    self.sleptInAll = sleptInAll
    self.wasContinued = wasContinued
  }
}

/// Tells the gaps in a watch from our own waits.
package struct WatchContinuity: Sendable {
  /// Waits shorter than this count as this long: nobody is hurt by a few milliseconds.
  private let shortestInterval: Duration
  private var sleptInAll: ClosedRange<Int64>?
  private var delay: Duration?
  private var waitsSinceDelay = 0
  private var lastEnded: Instant?

  /// A gap is longer than so many intervals.
  private static let intervals = 3
  /// How often our own run-queue delay is read where nothing is late: seldom, since it is a file.
  private static let waitsBetweenDelays = 64

  package init(shortestInterval: Duration) { self.shortestInterval = shortestInterval }

  /// `ownDelay` reads how long we have been runnable and not running since we began.
  package mutating func observe(_ wait: OwnWait, ownDelay: () -> Duration?) -> WatchGap? {
    if let slept = takeSleep(wait.sleptInAll) { return .suspended(slept) }
    let interval = max(wait.dueAt - wait.began, shortestInterval)
    let elapsed = wait.endedAt - wait.began
    // The stop may have come in the middle of a look.
    let sinceLast = max(elapsed, lastEnded.map { wait.endedAt - $0 } ?? .zero)
    lastEnded = wait.endedAt
    if wait.wasContinued, sinceLast > interval * Self.intervals { return .stopped(sinceLast) }
    let isLate = elapsed > interval * Self.intervals
    waitsSinceDelay += 1
    guard isLate || delay == nil || waitsSinceDelay >= Self.waitsBetweenDelays else { return nil }
    let before = delay
    delay = ownDelay()
    waitsSinceDelay = 0
    guard isLate else { return nil }
    let late = wait.endedAt - wait.dueAt
    let isExplained = if let before, let delay { (delay - before) * 2 >= late } else { false }
    return isExplained ? .starved(elapsed) : .held(elapsed)
  }

  private mutating func takeSleep(_ now: ClosedRange<Int64>) -> Duration? {
    guard let before = sleptInAll else {
      sleptInAll = now
      return nil
    }
    guard now.lowerBound <= before.upperBound else {
      sleptInAll = now
      return .nanoseconds(now.lowerBound - before.upperBound)
    }
    // Both hold, so the truth lies in both. Less than before it can only be in another time namespace.
    sleptInAll = now.overlaps(before) ? now.clamped(to: before) : now
    return nil
  }
}

extension ThreadObservation {
  /// Every sleep since then is accounted for: the thread did not move, or did not give up the CPU but for the sleep that
  /// this look sees.
  package func isAccountedFor(since earlier: ThreadObservation) -> Bool {
    hasNotMoved(since: earlier)
      || !earlier.state.isPaused && voluntarySwitches &- earlier.voluntarySwitches <= (isBlocked ? 1 : 0)
  }

  /// Of what reaches back, only what came after the moment counts.
  mutating func forget(before moment: Instant) {
    if let since = blockedSince { blockedSince = max(since, moment) }
    if let earliest = blockedNotBefore { blockedNotBefore = max(earliest, moment) }
    if let arrival, arrival.at < moment { self.arrival = nil }
    if let since = passes?.quietSince { passes?.quietSince = max(since, moment) }
  }
}
