// What a whole watch adds up to: stalls, doubtful spells, near misses, and the share of time parked.

/// Counts are exact; single durations are kept for the first ten thousand stalls only.
package struct StallTotals: Sendable, Equatable {
  package private(set) var count = 0
  package private(set) var verified = 0
  package private(set) var time: Duration = .zero
  package private(set) var longest: Duration = .zero
  /// In order of time, of one thread after the other.
  package private(set) var durations: [Duration] = []

  private static let mostDurations = 10_000

  package init() {}

  package mutating func add(_ stalled: Duration, isVerified: Bool) {
    count += 1
    if isVerified { verified += 1 }
    time += stalled
    longest = max(longest, stalled)
    if durations.count < Self.mostDurations { durations.append(stalled) }
  }

  /// Those of another thread.
  mutating func add(_ other: StallTotals) {
    count += other.count
    verified += other.verified
    time += other.time
    longest = max(longest, other.longest)
    durations += other.durations.prefix(max(0, Self.mostDurations - durations.count))
  }
}

package struct LoopStatistics: Sendable {
  package private(set) var stalls = StallTotals()
  package private(set) var doubtful = 0
  /// The longest spells below the threshold, longest first.
  package private(set) var nearMisses: [Duration] = []
  /// All spells that a look has seen, by what they certainly lasted.
  package private(set) var spells = SpellHistogram()
  private var parked: Duration = .zero
  private var judged: Duration = .zero
  private var lastLook: (at: Instant, position: LoopPosition)?

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

  mutating func count(_ stalled: Duration, isVerified: Bool) { stalls.add(stalled, isVerified: isVerified) }

  mutating func countSpell(atLeast duration: Duration) { spells.add(duration) }

  mutating func countDoubtful() { doubtful += 1 }

  mutating func countNearMiss(_ duration: Duration) {
    guard duration > .zero else { return }
    if nearMisses.count == Self.mostNearMisses, let least = nearMisses.last, least >= duration { return }
    let position = nearMisses.firstIndex { $0 < duration } ?? nearMisses.count
    nearMisses.insert(duration, at: position)
    if nearMisses.count > Self.mostNearMisses { nearMisses.removeLast() }
  }

  /// Those of another thread.
  package mutating func add(_ other: LoopStatistics) {
    stalls.add(other.stalls)
    doubtful += other.doubtful
    other.nearMisses.forEach { countNearMiss($0) }
    parked += other.parked
    judged += other.judged
  }
}
