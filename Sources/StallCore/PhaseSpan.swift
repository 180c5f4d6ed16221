// A phase that lasts from one fact to another, and what is said when that takes too long.

/// A launch, a suspension or the end of a program. Unlike a spell of work it may hold any number of sleeps: what counts is
/// that it is not over.
package final class PhaseSpan {
  package let phase: Phase
  package let threshold: Duration
  /// It began between these two.
  private let earliestStart: Instant
  private let start: Instant
  /// The episode, once it was told.
  private var id: Int?
  private var next: Duration
  private var first: ThreadObservation?
  private var last: ThreadObservation?
  private var paused: Duration = .zero

  package init(_ phase: Phase, threshold: Duration, from earliestStart: Instant, to start: Instant) {
    self.phase = phase
    self.threshold = threshold
    self.earliestStart = earliestStart
    self.start = start
    next = threshold
  }

  package var isTold: Bool { id != nil }

  /// When it will be told (again).
  package var deadline: Instant { start + paused + next }

  /// Takes in one look. Stopped, the program can do nothing about it.
  package func observe(_ look: ThreadObservation) {
    if let last, look.state.isPaused { paused += look.at - last.at }
    first = first ?? look
    last = look
  }

  /// It is not over at the last look: told at the threshold, and at each doubling of it.
  package func goOn(_ newEpisode: () -> Int) -> StallAction {
    guard let last, duration(until: last.at) >= next else { return .none }
    next = duration(until: last.at) * 2
    let id = self.id ?? newEpisode()
    self.id = id
    return .captureAndReport(
      statement(.ongoing, id, estimate(from: last.at, to: last.at, likely: last.at)))
  }

  /// It was over between the two moments.
  package func ended(
    after earliest: Instant, by latest: Instant, likely: Instant, as state: StallState = .ended,
    _ newEpisode: () -> Int
  ) -> StallAction {
    let estimate = estimate(from: earliest, to: latest, likely: likely)
    guard isTold || estimate.atLeast >= threshold else { return .none }
    return .report(statement(state, id ?? newEpisode(), estimate))
  }

  private func duration(until moment: Instant) -> Duration { max(.zero, moment - start - paused) }

  private func estimate(from earliest: Instant, to latest: Instant, likely: Instant) -> DurationEstimate {
    DurationEstimate(
      likely: duration(until: likely), atLeast: duration(until: earliest),
      atMost: max(.zero, latest - earliestStart - paused))
  }

  private func statement(_ state: StallState, _ id: Int, _ duration: DurationEstimate) -> Stall {
    var stall = Stall(
      id: id, state: state, threshold: threshold, startedAt: start, duration: duration,
      proof: phase == .launch ? .notSeenParked : .notOver, breakdown: breakdown(of: duration.likely))
    stall.phase = phase
    return stall
  }

  /// CPU time and run-queue delay since the first look; what came before it is not known.
  private func breakdown(of likely: Duration) -> TimeBreakdown {
    var parts = TimeBreakdown()
    parts.stopped = paused
    guard let first, let last else {
      parts.blind = likely
      return parts
    }
    parts.blind = min(likely, max(.zero, first.at - start))
    let seen = likely - parts.blind
    parts.onCPU = min(max(.zero, last.cpuTime - first.cpuTime), seen)
    parts.runnable = min(max(.zero, last.runQueueDelay - first.runQueueDelay), seen - parts.onCPU)
    parts.blocked = seen - parts.onCPU - parts.runnable
    return parts
  }
}
