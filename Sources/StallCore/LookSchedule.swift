// When to look next: seldom while the loop is calm, often once it was seen at work.

package struct LookSchedule: Sendable {
  package let calmInterval: Duration
  package let alertInterval: Duration
  /// Going calm at the first parked look would miss the stalls of a loaded loop.
  private let staysAlertFor: Duration
  private var alertUntil: Instant?
  /// Looks fall on moments that all threads have in common, so that one wake-up serves them all.
  package var sharesWakeUps = false

  /// Looks are never further apart and never closer than this.
  package static let longestInterval: Duration = .milliseconds(500)
  package static let shortestInterval: Duration = .milliseconds(2)

  /// Four looks in three thresholds when calm, ten (or one per `interval`) when alert, for four thresholds after the last look that
  /// found the loop at work.
  package init(threshold: Duration, interval: Duration?) {
    func clamp(_ wanted: Duration) -> Duration {
      min(max(wanted, Self.shortestInterval), Self.longestInterval)
    }
    alertInterval = clamp(interval ?? threshold / 10)
    calmInterval = max(alertInterval, clamp(threshold * 3 / 4))
    staysAlertFor = threshold * 4
  }

  /// `deadline` is when something becomes certain if nothing changes (start + threshold).
  package mutating func next(after look: Instant, isParked: Bool, deadline: Instant?) -> Instant {
    if !isParked { alertUntil = look + staysAlertFor }
    let isAlert = alertUntil.map { look < $0 } ?? false
    let regular = later(than: look, by: isAlert ? alertInterval : calmInterval)
    guard let deadline, deadline > look else { return regular }
    return min(regular, max(deadline, look + Self.shortestInterval))
  }

  private func later(than look: Instant, by interval: Duration) -> Instant {
    let next = look + interval
    guard sharesWakeUps else { return next }
    return Instant(nanoseconds: next.nanoseconds - next.nanoseconds % interval.nanoseconds)
  }

}
