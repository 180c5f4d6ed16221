// Which threshold is proposed after a watch, and when none is.

import StallCore
import Testing

private func suggestion(
  _ milliseconds: [Int64], threshold: Int64 = 500, minutes: Int = 10
) -> SuggestedThreshold? {
  var spells = SpellHistogram()
  for duration in milliseconds { spells.add(.milliseconds(duration)) }
  return SuggestedThreshold(
    spells, stalls: milliseconds.count { $0 >= threshold }, threshold: .milliseconds(threshold),
    watched: .seconds(60 * minutes))
}

@Suite struct SuggestedThresholdTests {
  @Test func spellsAreCountedByWhatTheyReach() {
    var spells = SpellHistogram()
    for duration in [9, 10, 14, 499, 500, 70_000] { spells.add(.milliseconds(duration)) }
    let counts = Dictionary(uniqueKeysWithValues: spells.atLeast.map { ($0.threshold, $0.spells) })
    #expect(counts[.milliseconds(10)] == 5)
    #expect(counts[.milliseconds(15)] == 3)
    #expect(counts[.milliseconds(300)] == 3)
    #expect(counts[.milliseconds(500)] == 2)
    #expect(counts[.seconds(60)] == 1)
  }

  @Test func nearMissesSuggestALowerOne() {
    let lower = suggestion([210, 290, 480, 1_200])
    #expect(lower?.threshold == .milliseconds(200))
    #expect(lower?.stalls == 4)
    // The highest of those that catch as much.
    #expect(suggestion([480, 490])?.threshold == .milliseconds(300))
  }

  @Test func aLowerOneMustNotCatchTheOrdinary() {
    let ordinary = [Int64](repeating: 110, count: 5_000)
    #expect(suggestion(ordinary + [260, 480])?.threshold == .milliseconds(200))
    #expect(suggestion(ordinary) == nil)
  }

  /// Looks are too far apart to have seen most of them.
  @Test func nothingFarBelowIsSuggested() { #expect(suggestion([60, 70, 99]) == nil) }

  @Test func manyStallsSuggestAHigherOne() {
    let many = [Int64](repeating: 700, count: 1_200) + [2_500, 2_600]
    #expect(suggestion(many)?.threshold == .seconds(1))
    #expect(suggestion(many)?.stalls == 2)
    // As long as it catches as much, one class above, which leaves some room.
    #expect(suggestion([Int64](repeating: 700, count: 1_200) + [760])?.threshold == .milliseconds(750))
    #expect(suggestion([Int64](repeating: 700, count: 1_200)) == nil)
    // Whatever the threshold, it stalls all the time.
    #expect(suggestion([Int64](repeating: 70_000, count: 1_200)) == nil)
  }

  @Test func whatSuitsIsLeftAlone() {
    #expect(suggestion([]) == nil)
    #expect(suggestion([600, 900, 5_000]) == nil)
    #expect(suggestion([Int64](repeating: 600, count: 10), minutes: 1) == nil)
  }
}
