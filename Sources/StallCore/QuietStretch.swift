// For how long, within one working spell, something that sees every pass of the loop saw none.

struct QuietStretch: Sendable {
  /// Since when without a break; nil: it passed, or nothing could have seen it.
  private(set) var since: Instant?
  /// Stopped or traced meanwhile; does not count.
  private(set) var paused: Duration = .zero
  private(set) var longest: Duration = .zero
  /// What would have seen a pass.
  private(set) var source: PassSource?

  /// Takes in a look at a loop that is at work, not parked, at least until `end`. What was quiet before `start` belongs to
  /// the park.
  mutating func extend(_ look: ThreadObservation, from start: Instant, until end: Instant) {
    guard let sight = look.passes, let quietSince = sight.quietSince else {
      since = nil
      return
    }
    let began = max(quietSince, start)
    if let since, quietSince <= since {
      measure(since, end)
    } else {
      (since, paused) = (began, .zero)
      measure(began, end)
    }
    source = sight.source
  }

  mutating func pause(_ time: Duration) { paused += time }

  /// If it lasted until `end`.
  func longest(until end: Instant) -> Duration { since.map { max(longest, end - $0 - paused) } ?? longest }

  private mutating func measure(_ start: Instant, _ end: Instant) {
    longest = max(longest, end - start - paused)
  }
}
