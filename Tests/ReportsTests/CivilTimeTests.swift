// Dates and times of day.

import StallCore
import Testing

@testable import Reports

@Suite struct CivilTimeTests {
  @Test(arguments: [
    (Int64(0), "1970-01-01T00:00:00.000000Z"), (-1, "1969-12-31T23:59:59.999999Z"),
    (951_782_399_999_999, "2000-02-28T23:59:59.999999Z"),
    (951_782_400_000_000, "2000-02-29T00:00:00.000000Z"),
    (4_107_542_400_000_000, "2100-03-01T00:00:00.000000Z"),
    (1_735_689_599_000_001, "2024-12-31T23:59:59.000001Z"),
    (-62_135_596_800_000_000, "0001-01-01T00:00:00.000000Z"),
  ])
  func wallTimeIsWritten(microseconds: Int64, text: String) {
    #expect(WallTime(microseconds: microseconds).rfc3339 == text)
  }

  @Test func aSecondAndItsNanosecondsAreOneTime() {
    #expect(WallTime(seconds: 1_700_000_000, nanoseconds: 999_999_999).microseconds == 1_700_000_000_999_999)
  }

  /// Every day of four centuries follows the one before it.
  @Test func daysFollowEachOther() {
    var last = CivilTime(utc: -86_400)
    for day in 0..<Int64(146_097) {
      let next = CivilTime(utc: day * 86_400)
      let isNextDay = next.month == last.month && next.day == last.day + 1
      let isFirst = next.day == 1 && last.day >= 28 && (next.month == last.month + 1 || next.month == 1)
      #expect(isNextDay || isFirst)
      last = next
    }
    #expect(last.date == "2369-12-31")
  }

  @Test func localTimeIsWithinADayOfUTC() {
    let local = CivilTime(local: 1_772_373_787)
    #expect(local.year == 2026)
    #expect(local.secondOfDay % 60 == 7)
  }
}
