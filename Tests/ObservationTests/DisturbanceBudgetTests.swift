// What a monitored thread may lose, added up over made-up looks.

import StallCore
import Testing

@testable import Observation

@Suite struct DisturbanceBudgetTests {
  /// Looks every `distance` for ten minutes at a thread that passes and is switched so often in a second.
  /// Returns the share of time that the thread has lost by the budget's own prices, and how often it was armed.
  private func lose(
    _ distance: Duration, passesPerSecond: Int, switchesPerSecond: Int, isHeldUp: Bool = false
  ) -> (share: Double, armed: Int) {
    var budget = DisturbanceBudget()
    var now = Instant(nanoseconds: 0)
    let end = now + .seconds(600)
    var spent: Duration = .zero
    var armed = 0
    var left: Int32 = 0
    while now < end {
      now = now + distance
      budget.refill(at: now, isHeldUp: isHeldUp)
      let before = budget.left
      if left > 0 {
        let passes = Int32(Double(passesPerSecond) * distance.seconds)
        budget.spend(
          fires: Int(min(passes, left)), scheduled: UInt64(Double(switchesPerSecond) * distance.seconds))
        left = budget.isOverdrawn ? 0 : max(0, left - passes)
      }
      if left == 0, let fires = budget.firesAllowed {
        budget.spend(DisturbanceBudget.arming)
        armed += 1
        left = fires
      }
      spent += before - budget.left
    }
    return (spent / .seconds(600), armed)
  }

  @Test(arguments: [
    (Duration.milliseconds(2), 3_000_000, 0), (.milliseconds(50), 3_000_000, 0),
    (.milliseconds(50), 0, 10_000),
    (.milliseconds(500), 0, 100_000), (.milliseconds(2), 3_000_000, 10_000), (.milliseconds(50), 400, 400),
  ])
  func noThreadLosesMoreThanATwoHundredth(_ distance: Duration, _ passes: Int, _ switches: Int) {
    let lost = lose(distance, passesPerSecond: passes, switchesPerSecond: switches)
    #expect(lost.share <= 0.006)
    #expect(lost.armed > 0)
  }

  /// At the default threshold of 500 ms, a loop under full load with jobs of 10 ms: an arming lasts for twenty looks.
  @Test func loadedLoopIsSeenAllTheTime() {
    let lost = lose(.milliseconds(50), passesPerSecond: 100, switchesPerSecond: 20)
    #expect((580...600).contains(lost.armed) && lost.share < 0.0013)
  }

  /// Writes to a disk in small pieces, all in one piece of work.
  @Test func threadThatIsHeldUpIsSeenAllTheTime() {
    let lost = lose(.milliseconds(10), passesPerSecond: 0, switchesPerSecond: 16_000, isHeldUp: true)
    #expect(lost.armed == 1 && lost.share <= 0.1)
    #expect(lose(.milliseconds(10), passesPerSecond: 0, switchesPerSecond: 16_000).armed > 1)
  }

  @Test func timeThatGoesBackGivesNothing() {
    var budget = DisturbanceBudget()
    budget.refill(at: Instant(nanoseconds: 1_000_000_000), isHeldUp: false)
    budget.spend(.milliseconds(1))
    let left = budget.left
    budget.refill(at: Instant(nanoseconds: 0), isHeldUp: true)
    #expect(budget.left == left)
  }
}
