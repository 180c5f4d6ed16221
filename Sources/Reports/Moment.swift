// When something happened: wall clock for people and other machines, monotonic clock for distances.

package import StallCore

/// A moment of the wall clock, as CLOCK_REALTIME gives it, cut to microseconds.
package struct WallTime: Hashable, Sendable, Encodable {
  /// Since 1970-01-01T00:00:00Z.
  package var microseconds: Int64

  package init(microseconds: Int64) { self.microseconds = microseconds }

  package init(seconds: Int64, nanoseconds: Int64) {
    microseconds = seconds &* 1_000_000 &+ nanoseconds / 1_000
  }

  var seconds: Int64 { floorDivision(microseconds, 1_000_000).quotient }
  var microsecondsOfSecond: Int { Int(floorDivision(microseconds, 1_000_000).remainder) }

  /// `2026-03-01T14:03:07.412345Z` (RFC 3339).
  var rfc3339: String {
    let time = CivilTime(utc: seconds)
    return "\(time.date)T\(time.clock).\(digits(microsecondsOfSecond, 6))Z"
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(rfc3339)
  }
}

/// Both clocks, read together.
package struct Moment: Hashable, Sendable {
  package var wall: WallTime
  package var monotonic: Instant

  package init(wall: WallTime, monotonic: Instant) {
    self.wall = wall
    self.monotonic = monotonic
  }

  /// The wall clock at another instant, as if it had not been set meanwhile.
  func wall(at instant: Instant) -> WallTime {
    WallTime(microseconds: wall.microseconds &- (monotonic - instant).nanoseconds / 1_000)
  }
}
