// When to try again what was refused: seldom, and ever more seldom.

/// Rights can come back (another program runs, a setting was changed), but each refusal may be written to the log of the
/// kernel, and asking at every look would fill it.
package struct RetrySpacing: Sendable {
  private var notBefore: Instant?
  private var distance = Self.shortest

  private static let shortest: Duration = .seconds(1)
  private static let longest: Duration = .seconds(64)

  package init() {}

  /// Nothing was refused so far.
  package var isFirst: Bool { notBefore == nil }

  package func isDue(at moment: Instant) -> Bool { notBefore.map { moment >= $0 } ?? true }

  package mutating func refuse(at moment: Instant) {
    notBefore = moment + distance
    distance = min(distance * 2, Self.longest)
  }
}
