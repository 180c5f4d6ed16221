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
  /// What would have seen a pass from `quietSince` on.
  package var source: PassSource
  /// What saw `firstPass`; only a breakpoint's is exact.
  package var passSource: PassSource

  package init(
    source: PassSource, firstPass: Instant? = nil, lastPass: Instant? = nil, lastPassAfter: Instant? = nil,
    quietSince: Instant? = nil
  ) {
    self.source = source
    passSource = source
    self.firstPass = firstPass
    self.lastPass = lastPass
    self.lastPassAfter = lastPassAfter
    self.quietSince = quietSince
  }

  /// Nothing came round between `moment` and the look that has this sight.
  package func isQuiet(since moment: Instant) -> Bool { quietSince.map { $0 <= moment } ?? false }
}

extension PassSight {
  /// What two sources say together; the first is the better one where both say the same. A pass that either saw ends what
  /// was quiet to the other.
  package static func combined(_ better: PassSight?, _ lesser: PassSight?) -> PassSight? {
    guard let better, let lesser else { return better ?? lesser }
    var sight = better
    sight.takeQuiet(of: better, lesser)
    if let pass = lesser.lastPass, !better.saw(passOf: lesser), better.lastPass.map({ $0 < pass }) ?? true {
      (sight.lastPass, sight.lastPassAfter) = (pass, lesser.lastPassAfter)
    }
    if let first = lesser.firstPass, better.firstPass.map({ first < $0 }) ?? true {
      (sight.firstPass, sight.passSource) = (first, lesser.passSource)
    }
    if better.count == 0 { (sight.count, sight.longestRound) = (lesser.count, lesser.longestRound) }
    return sight
  }

  /// The longer of the two quiet stretches, and who vouches for it.
  private mutating func takeQuiet(of better: PassSight, _ lesser: PassSight) {
    quietSince = better.quietSince(besides: lesser)
    guard let other = lesser.quietSince(besides: better), quietSince.map({ other < $0 }) ?? true else {
      return
    }
    (quietSince, source) = (other, lesser.source)
  }

  private func quietSince(besides other: PassSight) -> Instant? {
    guard let quietSince, let pass = other.lastPass, !saw(passOf: other) else { return quietSince }
    return max(quietSince, pass)
  }

  /// The pass of which the other knows only between which moments it was may be one that was seen here.
  private func saw(passOf other: PassSight) -> Bool {
    guard let lastPass, let after = other.lastPassAfter else { return false }
    return lastPass > after
  }

  /// The loop came round at a time all of which was quiet to the other.
  package func contradicts(_ other: PassSight) -> Bool {
    guard firstPass != nil, let after = lastPassAfter, let quietSince = other.quietSince else { return false }
    return quietSince <= after
  }
}
