// Which threshold would have suited a watch, from what it saw with the one it had.

/// Made only where another threshold would have been clearly better.
package struct SuggestedThreshold: Sendable, Equatable {
  package let threshold: Duration
  /// Spells that certainly lasted as long.
  package let stalls: Int

  /// More often than this a stall is no exception but how the program works.
  private static let mostPerMinute = 2.0
  /// Fewer than these are not judged by how often they came.
  private static let few = 10
  /// Of what is much shorter than the threshold the looks have seen too little.
  private static let leastPart = 5

  /// Nil if the present threshold suits.
  package init?(_ spells: SpellHistogram, stalls: Int, threshold: Duration, watched: Duration) {
    let most = max(Self.few, Int(watched.seconds / 60 * Self.mostPerMinute))
    let others = spells.atLeast
    let better =
      stalls > most
      ? Self.higher(others.filter { $0.threshold > threshold }, most)
      : Self.lower(
        others.filter { $0.threshold < threshold && $0.threshold * Self.leastPart >= threshold }, most)
    // One that catches nothing at all is no advice.
    guard let better, stalls > most ? better.spells > 0 : better.spells > stalls else { return nil }
    self.threshold = better.threshold
    self.stalls = better.spells
  }

  private typealias Choice = (threshold: Duration, spells: Int)

  /// The one that catches most and yet not too much; of equal ones the highest.
  private static func lower(_ choices: [Choice], _ most: Int) -> Choice? {
    guard let catching = choices.first(where: { $0.spells <= most }) else { return nil }
    return choices.last { $0.spells == catching.spells }
  }

  /// The lowest that does not catch too much; the next one if that catches as much, which leaves some room.
  private static func higher(_ choices: [Choice], _ most: Int) -> Choice? {
    guard let index = choices.firstIndex(where: { $0.spells <= most }) else { return nil }
    let next = choices[index...].dropFirst().first
    return next.flatMap { $0.spells == choices[index].spells ? $0 : nil } ?? choices[index]
  }
}
