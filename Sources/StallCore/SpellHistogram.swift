// How long working spells lasted: a few fixed classes, so that counting one costs nothing.

package struct SpellHistogram: Sendable {
  /// Lower bounds of the classes in milliseconds: what a person would choose as a threshold.
  private static let bounds: InlineArray<_, Int64> = [
    10, 15, 20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1_000, 1_500, 2_000, 3_000, 5_000, 7_500, 10_000,
    15_000,
    20_000, 30_000, 60_000,
  ]

  private var counts = InlineArray<23, Int>(repeating: 0)

  package init() {}

  /// Shorter ones than any threshold are not counted.
  package mutating func add(_ duration: Duration) {
    var index = Self.bounds.count - 1
    while index >= 0, duration < .milliseconds(Self.bounds[index]) { index -= 1 }
    if index >= 0 { counts[index] += 1 }
  }

  /// The thresholds that it can tell about, and how many spells were at least that long; shortest first.
  package var atLeast: [(threshold: Duration, spells: Int)] {
    var result: [(threshold: Duration, spells: Int)] = []
    var spells = 0
    for index in counts.indices.reversed() {
      spells += counts[index]
      result.append((.milliseconds(Self.bounds[index]), spells))
    }
    return result.reversed()
  }
}
