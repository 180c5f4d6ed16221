// When an episode at a known place is worth a report: the first, then ever more seldom, and whatever is much longer.

/// What a record says of earlier episodes at its place.
package struct Repetition: Sendable, Equatable {
  /// Episodes at this place so far, this one included.
  package var count: Int
  /// Of these, not reported since the last report of this place.
  package var suppressed: Int
  /// For so long from now on the place is not reported again; nil where nothing of the kind is known yet.
  package var quiet: Duration?

  package init(count: Int = 1, suppressed: Int = 0, quiet: Duration? = nil) {
    self.count = count
    self.suppressed = suppressed
    self.quiet = quiet
  }
}

/// The reports of one place, each twice as far from the one before as that was.
package struct ReportSpacing: Sendable {
  private let cooldown: Duration
  private var distance: Duration
  private var quietUntil: Instant?
  private var lastEpisode: Instant?
  private var longestReported: Duration = .zero
  /// Episodes that were not reported since the last one that was.
  package private(set) var suppressed = 0

  /// No place stays unheard for longer than this. One that was quiet for so long is as good as new.
  private static let longest: Duration = .seconds(3_600)
  /// An episode this many times as long as any that was reported is news. Each such report raises the bar as much, so
  /// there are few of them.
  package static let newsFactor = 4

  package init(cooldown: Duration) {
    self.cooldown = cooldown
    distance = cooldown
  }

  package func isDue(_ duration: Duration, at moment: Instant) -> Bool {
    guard let quietUntil, moment < quietUntil else { return true }
    return duration >= longestReported * Self.newsFactor
  }

  /// - Returns: how long it is quiet from now on.
  package mutating func report(_ duration: Duration, isLast: Bool, at moment: Instant) -> Duration {
    if let lastEpisode, moment - lastEpisode >= max(Self.longest, cooldown) { distance = cooldown }
    lastEpisode = moment
    longestReported = max(longestReported, duration)
    let quiet = distance
    quietUntil = moment + quiet
    if isLast {
      suppressed = 0
      distance = max(cooldown, min(distance * 2, Self.longest))
    }
    return quiet
  }

  package mutating func suppress(at moment: Instant) {
    suppressed += 1
    lastEpisode = moment
  }
}
