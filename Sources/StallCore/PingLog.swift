// When the loop's wake-up may be raised, and what is known of passes from whether the loop has taken it.

/// One wake-up at a time. Pure: whoever raises it says what became of it.
package struct PingLog: Sendable {
  /// Raised and not yet taken.
  private struct Outstanding {
    /// It was raised between these moments.
    var began: Instant
    var raisedAt: Instant
    /// The last look that found it untaken.
    var untakenAt: Instant
    /// Looks since that found the loop parked, which a raised wake-up does not allow.
    var parkedLooks = 0
    /// The loop was held meanwhile, so that the time means nothing.
    var wasPaused = false
  }

  private let distance: Duration
  /// The loop takes it as soon as its wait returns, before it does anything else.
  private let isTakenFirst: Bool
  private var outstanding: Outstanding?
  private var lastRaise: Instant?
  private var lastPass: (at: Instant, after: Instant)?
  /// A loop that never takes it was taken for another.
  package private(set) var isIgnored = false

  private static let mostParkedLooks = 3

  /// No more than two in a threshold.
  package init(threshold: Duration, isTakenFirst: Bool) {
    distance = threshold / 2
    self.isTakenFirst = isTakenFirst
  }

  package var isOutstanding: Bool { outstanding != nil }

  /// Only while the loop is at work: of a parked one it is known that it would come round.
  package func mayRaise(at look: ThreadObservation, isParked: Bool) -> Bool {
    guard !isIgnored, outstanding == nil, !isParked, !look.state.isPaused else { return false }
    return lastRaise.map { look.at - $0 >= distance } ?? true
  }

  package mutating func raise(from began: Instant, to ended: Instant) {
    lastRaise = ended
    outstanding = Outstanding(began: began, raisedAt: ended, untakenAt: ended)
  }

  /// It could not be raised; not tried again at once.
  package mutating func putOff(at moment: Instant) { lastRaise = moment }

  /// It is not known any more whose it is.
  package mutating func forget() {
    outstanding = nil
    lastPass = nil
  }

  /// Nothing is outstanding.
  package func sight() -> PassSight? { lastPass.map(sight) }

  /// Seen at a look to be taken or not; `responseTime` is how long that took at most.
  package mutating func see(
    isTaken: Bool, at look: ThreadObservation, isParked: Bool
  ) -> (sight: PassSight?, responseTime: Duration?) {
    guard var open = outstanding else { return (sight(), nil) }
    if isTaken {
      outstanding = nil
      // Where others are served before it, the wait may have returned long before it was taken.
      let pass = (at: look.at, after: isTakenFirst ? open.untakenAt : open.began)
      lastPass = pass
      var sight = sight(lastPass: pass)
      (sight.firstPass, sight.count) = (look.at, 1)
      return (sight, open.wasPaused ? nil : look.at - open.raisedAt)
    }
    open.untakenAt = look.at
    open.wasPaused = open.wasPaused || look.state.isPaused
    if isParked { open.parkedLooks += 1 }
    isIgnored = open.parkedLooks >= Self.mostParkedLooks
    outstanding = isIgnored ? nil : open
    guard !isIgnored, !open.wasPaused else { return (sight(), nil) }
    var sight = PassSight(source: .ping, lastPass: lastPass?.at, lastPassAfter: lastPass?.after)
    sight.quietSince = quietSince(open, look.at)
    return (sight, nil)
  }

  /// Where others may be served before it, the loop may have come round once, at whatever moment since: one of the two
  /// parts is at least half of the time.
  private func quietSince(_ open: Outstanding, _ now: Instant) -> Instant {
    isTakenFirst ? open.raisedAt : open.raisedAt + (now - open.raisedAt) / 2
  }

  private func sight(lastPass: (at: Instant, after: Instant)) -> PassSight {
    PassSight(source: .ping, lastPass: lastPass.at, lastPassAfter: lastPass.after)
  }
}

/// How long the loop took to answer.
package struct ResponseTimes: Sendable, Equatable {
  package private(set) var count = 0
  package private(set) var longest: Duration = .zero
  private var kept: [Duration] = []

  private static let mostKept = 10_000

  package init() {}

  package mutating func add(_ time: Duration) {
    count += 1
    longest = max(longest, time)
    if kept.count < Self.mostKept { kept.append(time) }
  }

  package mutating func add(_ other: ResponseTimes) {
    count += other.count
    longest = max(longest, other.longest)
    kept += other.kept.prefix(max(0, Self.mostKept - kept.count))
  }

  /// In rising order; of the first ten thousand.
  package var sorted: [Duration] { kept.sorted() }
}
