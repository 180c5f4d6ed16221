// What is known at one look of whether the loop came round since, parked or not.

/// What saw that the loop came round, or did not. The raw value is the word used in records.
package enum PassSource: String, Sendable, Codable {
  /// A one-shot execution breakpoint behind the loop's own wait.
  case breakpoint
  /// A counter of the program's own.
  case heartbeat
  /// A wake-up that was sent to the loop and is taken by it when it comes round.
  case ping
  /// An answer to a question from outside. That there is none proves nothing.
  case probe
}

package struct PassSight: Sendable, Equatable {
  /// When the loop was first seen to come round since the look before; nil if it was not. Where only looks can see it, the
  /// later one of the two.
  package var firstPass: Instant?
  /// When the loop is last known to have come round, at whatever look.
  package var lastPass: Instant?
  /// The same before that pass, where `lastPass` is not exact: it came round after this moment.
  package var lastPassAfter: Instant?
  /// From this moment on until the look something would have seen every pass, and saw none. Nil: nothing did, or what it
  /// saw may have been somebody else's.
  package var quietSince: Instant?
  /// How often it was seen to come round since the look before, and the longest time between two of these; there may have
  /// been more.
  package var count = 0
  package var longestRound: Duration = .zero
  /// What would have seen it.
  package var source: PassSource

  package init(
    source: PassSource, firstPass: Instant? = nil, lastPass: Instant? = nil, lastPassAfter: Instant? = nil,
    quietSince: Instant? = nil
  ) {
    self.source = source
    self.firstPass = firstPass
    self.lastPass = lastPass
    self.lastPassAfter = lastPassAfter
    self.quietSince = quietSince
  }

  /// Nothing came round between `moment` and the look that has this sight.
  package func isQuiet(since moment: Instant) -> Bool { quietSince.map { $0 <= moment } ?? false }
}
