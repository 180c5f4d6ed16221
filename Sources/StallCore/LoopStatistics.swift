// What a whole watch adds up to: stalls, doubtful spells, near misses, and the share of time parked.

package struct LoopStatistics: Sendable {
  package private(set) var stalls = 0
  package private(set) var verifiedStalls = 0
  package private(set) var doubtful = 0
  package private(set) var stalledTime: Duration = .zero
  package private(set) var longest: Duration = .zero
  /// Durations of the stalls, in order of time; of at most the first ten thousand.
  package private(set) var durations: [Duration] = []
  /// The longest spells below the threshold, longest first.
  package private(set) var nearMisses: [Duration] = []
  private var parked: Duration = .zero
  private var judged: Duration = .zero
  private var lastLook: (at: Instant, position: LoopPosition)?

  private static let mostDurations = 10_000
  private static let mostNearMisses = 3

  package init() {}

  /// Of the time in which it was known what the loop did; nil before that.
  package var parkedShare: Double? { judged > .zero ? parked / judged : nil }

  /// The time since the last look goes to what that look saw.
  mutating func count(_ position: LoopPosition, at moment: Instant) {
    if let lastLook {
      let elapsed = moment - lastLook.at
      if lastLook.position == .parked { parked += elapsed }
      if lastLook.position == .parked || lastLook.position == .working { judged += elapsed }
    }
    lastLook = (moment, position)
  }

  mutating func count(_ stalled: Duration, isVerified: Bool) {
    stalls += 1
    if isVerified { verifiedStalls += 1 }
    stalledTime += stalled
    longest = max(longest, stalled)
    if durations.count < Self.mostDurations { durations.append(stalled) }
  }

  mutating func countDoubtful() { doubtful += 1 }

  mutating func countNearMiss(_ duration: Duration) {
    guard duration > .zero else { return }
    if nearMisses.count == Self.mostNearMisses, let least = nearMisses.last, least >= duration { return }
    let position = nearMisses.firstIndex { $0 < duration } ?? nearMisses.count
    nearMisses.insert(duration, at: position)
    if nearMisses.count > Self.mostNearMisses { nearMisses.removeLast() }
  }

  /// The duration that `share` (0…1) of the stalls did not exceed.
  package func percentile(_ share: Double) -> Duration? {
    guard !durations.isEmpty else { return nil }
    let sorted = durations.sorted()
    return sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
  }
}
