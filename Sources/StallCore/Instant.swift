// A moment on CLOCK_MONOTONIC, and durations in the units that cross our borders.

/// A moment on the monotonic clock. `StallCore` never reads a clock: moments come in with the observations.
package struct Instant: InstantProtocol, Hashable, Sendable {
  /// Nanoseconds since the clock's origin (boot).
  package var nanoseconds: Int64

  package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  package func advanced(by duration: Duration) -> Instant {
    Instant(nanoseconds: nanoseconds + duration.nanoseconds)
  }

  package func duration(to other: Instant) -> Duration {
    .nanoseconds(other.nanoseconds - nanoseconds)
  }

  package static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }
  package static func - (left: Instant, right: Instant) -> Duration { right.duration(to: left) }
  package static func + (left: Instant, right: Duration) -> Instant { left.advanced(by: right) }
  package static func - (left: Instant, right: Duration) -> Instant { left.advanced(by: .zero - right) }
}

extension Duration {
  /// Whole nanoseconds. Valid for 292 years; everything measured here is far below that.
  package var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }

  /// In whole nanoseconds. The standard library's own, for any type of integer, divides and multiplies 128 bits through the
  /// tables of that type, which are in no cache when a look is made.
  package static func / (duration: Duration, divisor: Int) -> Duration {
    .nanoseconds(duration.nanoseconds / Int64(divisor))
  }

  package static func * (duration: Duration, factor: Int) -> Duration {
    .nanoseconds(duration.nanoseconds * Int64(factor))
  }

  package var milliseconds: Double { Double(nanoseconds) / 1e6 }
  package var seconds: Double { Double(nanoseconds) / 1e9 }
}
