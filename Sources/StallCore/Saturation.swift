// What the judgement says of a loop that comes round but never idles: many short jobs, no single long one.

/// One statement about one episode of saturation.
package struct Saturation: Sendable, Equatable {
  /// From the same series as the ids of stalls; the same for every statement about an episode.
  package var id: Int
  /// `ongoing` once, when the loop has not been parked for the threshold; `ended` or `interrupted` once.
  package var state: StallState
  package var threshold: Duration
  /// Likely start.
  package var startedAt: Instant
  package var duration: DurationEstimate
  /// How often the loop came round, as far as that was seen; nil if only some of it was.
  package var passes: Int?
  /// The longest time from one pass to the next.
  package var longestPass: Duration?
  package var breakdown: TimeBreakdown

  package init(
    id: Int, state: StallState, threshold: Duration, startedAt: Instant, duration: DurationEstimate,
    passes: Int?, longestPass: Duration?, breakdown: TimeBreakdown
  ) {
    self.id = id
    self.state = state
    self.threshold = threshold
    self.startedAt = startedAt
    self.duration = duration
    self.passes = passes
    self.longestPass = longestPass
    self.breakdown = breakdown
  }
}

/// What all saturation of a watch adds up to.
package struct SaturationTotals: Sendable, Equatable {
  package private(set) var count = 0
  package private(set) var time: Duration = .zero

  package init() {}

  package mutating func add(_ duration: Duration) {
    count += 1
    time += duration
  }
}
