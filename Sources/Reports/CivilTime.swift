// A point in time as people write it: date and time of day.

internal import Glibc

/// A date of the Gregorian calendar and a time of day, in some time zone.
package struct CivilTime: Equatable, Sendable {
  package var year: Int
  package var month: Int
  package var day: Int
  package var secondOfDay: Int

  package init(year: Int, month: Int, day: Int, secondOfDay: Int) {
    self.year = year
    self.month = month
    self.day = day
    self.secondOfDay = secondOfDay
  }

  /// Seconds since 1970 in UTC. The algorithm is `civil_from_days` of Howard Hinnant,
  /// "chrono-Compatible Low-Level Date Algorithms": eras of 400 years that begin on 1 March, so that the leap day is
  /// the last day of a year.
  package init(utc seconds: Int64) {
    let (days, secondOfDay) = floorDivision(seconds, 86_400)
    let (era, dayOfEra) = floorDivision(days + 719_468, 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    self.init(
      year: Int(yearOfEra + era * 400 + (month <= 2 ? 1 : 0)), month: Int(month),
      day: Int(dayOfYear - (153 * monthFromMarch + 2) / 5 + 1), secondOfDay: Int(secondOfDay))
  }

  /// Seconds since 1970 in the time zone of this machine or of `TZ`.
  package init(local seconds: Int64) {
    var time = Int(seconds)
    var parts = unsafe tm()
    guard unsafe localtime_r(&time, &parts) != nil else {
      self.init(utc: seconds)
      return
    }
    unsafe self.init(
      year: Int(parts.tm_year) + 1900, month: Int(parts.tm_mon) + 1, day: Int(parts.tm_mday),
      secondOfDay: Int(parts.tm_hour) * 3600 + Int(parts.tm_min) * 60 + Int(parts.tm_sec))
  }

  /// `2026-03-01`
  package var date: String { "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))" }

  /// `14:03:07`
  package var clock: String {
    "\(digits(secondOfDay / 3600, 2)):\(digits(secondOfDay / 60 % 60, 2)):\(digits(secondOfDay % 60, 2))"
  }
}

/// Quotient towards negative infinity and the remainder that is never negative.
func floorDivision(_ dividend: Int64, _ divisor: Int64) -> (quotient: Int64, remainder: Int64) {
  let (quotient, remainder) = dividend.quotientAndRemainder(dividingBy: divisor)
  return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
}

/// A number with leading zeros.
func digits(_ number: Int, _ count: Int) -> String {
  let text = String(number)
  return String(repeating: "0", count: max(0, count - text.count)) + text
}
