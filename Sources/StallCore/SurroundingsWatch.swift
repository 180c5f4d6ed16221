// When the surroundings of a thread are worth a reading, and what they add up to for a stall.

/// A spell that lasts for a few looks may become a stall: that is when the first reading is taken. What came before it is
/// not known, so that sums are at least what they say.
package struct SurroundingsWatch: Sendable {
  private let patience: Duration
  private var first: SurroundingsReading?

  /// `interval` is that of the looks while alert.
  package init(interval: Duration) { patience = interval * 2 }

  /// After each look. `spellStart` is nil while there is no spell. A replay reads what was read then: nothing, or what
  /// was read before the spell.
  package mutating func observe(
    spellStart: Instant?, at moment: Instant, read: () -> SurroundingsReading?
  ) {
    guard let spellStart else {
      first = nil
      return
    }
    if let first, first.at >= spellStart { return }
    first = moment - spellStart >= patience ? read().flatMap { $0.at >= spellStart ? $0 : nil } : nil
  }

  /// With what was added since the first reading of its spell.
  package func surrounded(_ action: StallAction, read: () -> SurroundingsReading?) -> StallAction {
    guard let first else { return action }
    return action.with { stall in
      guard let last = read(), last.at > first.at else { return }
      stall.put(Surroundings(from: first, to: last))
    }
  }
}
