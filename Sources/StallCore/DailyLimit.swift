// The most episodes that are reported in a day, whatever becomes of the program.

/// Places do not hold back a program that stalls at another place each time. A thousand a day is one every minute and a
/// half: more than anybody reads, and some ten megabytes of records.
package struct DailyLimit: Sendable {
  /// What is said once each time.
  package enum Change: Sendable, Equatable {
    /// So many were reported; for so long no more will be.
    case reached(reported: Int, lasts: Duration)
    /// So many were held back meanwhile.
    case lifted(suppressed: Int)
  }

  package static let most = 1_000
  package static let day: Duration = .seconds(86_400)

  private var dayBegan: Instant?
  private var reported = 0
  private var suppressed = 0
  private var longestReported: Duration = .zero
  private var change: Change?

  package init() {}

  /// Asked of an episode until it is admitted. What lasts much longer than anything reported today passes.
  package mutating func admits(_ duration: Duration, at moment: Instant) -> Bool {
    if let dayBegan, moment - dayBegan >= Self.day { beginDay() }
    dayBegan = dayBegan ?? moment
    guard reported < Self.most || duration >= longestReported * ReportSpacing.newsFactor else { return false }
    longestReported = max(longestReported, duration)
    reported += 1
    if reported == Self.most, let dayBegan {
      change = .reached(reported: reported, lasts: Self.day - (moment - dayBegan))
    }
    return true
  }

  /// An episode is over that was not admitted.
  package mutating func suppress() { suppressed += 1 }

  private mutating func beginDay() {
    if reported >= Self.most { change = .lifted(suppressed: suppressed) }
    (dayBegan, reported, suppressed, longestReported) = (nil, 0, 0, .zero)
  }

  package mutating func takeChange() -> Change? {
    defer { change = nil }
    return change
  }
}
