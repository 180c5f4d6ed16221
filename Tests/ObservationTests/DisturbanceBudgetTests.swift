// What a monitored thread may lose, added up over made-up looks.

import StallCore
import Testing

@testable import Observation

@Suite struct DisturbanceBudgetTests {
  /// Looks every `distance` for ten minutes at a thread that uses up each arming, and is switched so often in a second.
  /// Returns the share of time that the thread has lost by the budget's own prices, and how often it was armed.
  private func lose(_ distance: Duration, fires: Int, switchesPerSecond: Int) -> (share: Double, armed: Int) {
    var budget = DisturbanceBudget()
    var now = Instant(nanoseconds: 0)
    let end = now + .seconds(600)
    var spent: Duration = .zero
    var armed = 0
    var isArmed = false
    while now < end {
      now = now + distance
      budget.refill(at: now)
      let before = budget.left
      if isArmed {
        budget.spend(fires: fires, scheduled: UInt64(Double(switchesPerSecond) * distance.seconds))
        isArmed = fires < 4 && !budget.isOverdrawn
      }
      if !isArmed, budget.allowsArming(for: 4) {
        budget.spend(DisturbanceBudget.arming)
        armed += 1
        isArmed = true
      }
      spent += before - budget.left
    }
    return (spent / .seconds(600), armed)
  }

  @Test(arguments: [
    (Duration.milliseconds(2), 4, 0), (.milliseconds(50), 4, 0), (.milliseconds(50), 0, 10_000),
    (.milliseconds(500), 0, 100_000), (.milliseconds(2), 4, 3_000_000),
  ])
  func noThreadLosesMoreThanAFiveHundredth(_ distance: Duration, _ fires: Int, _ switches: Int) {
    let lost = lose(distance, fires: fires, switchesPerSecond: switches)
    #expect(lost.share <= 0.0023)
    #expect(lost.armed > 0)
  }

  /// At the default threshold of 500 ms, a loop under full load.
  @Test func everyLookCanArmAtTheUsualDistance() {
    #expect(lose(.milliseconds(50), fires: 4, switchesPerSecond: 20).armed >= 11_900)
  }

  @Test func timeThatGoesBackGivesNothing() {
    var budget = DisturbanceBudget()
    budget.refill(at: Instant(nanoseconds: 1_000_000_000))
    budget.spend(.milliseconds(1))
    let left = budget.left
    budget.refill(at: Instant(nanoseconds: 0))
    #expect(budget.left == left)
  }
}
