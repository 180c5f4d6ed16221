// When to look next: seldom while the loop is calm, often once it was seen at work.

package struct LookSchedule: Sendable {
  /// The longest distances; those of two looks that follow each other vary, see `LookMoments`.
  package let calmInterval: Duration
  package let alertInterval: Duration
  private let calmMoments: LookMoments
  private let alertMoments: LookMoments
  /// Going calm at the first parked look would miss the stalls of a loaded loop.
  private let staysAlertFor: Duration
  private var alertUntil: Instant?

  /// Looks are never further apart and never closer than this.
  package static let longestInterval: Duration = .milliseconds(500)
  package static let shortestInterval: Duration = .milliseconds(2)

  /// When calm, at least one look in nine tenths of a threshold: what will be a stall is seen before it is one. When alert, ten
  /// a threshold (or one per `interval`), for four thresholds after the last look that found the loop at work.
  package init(threshold: Duration, interval: Duration?) {
    func clamp(_ wanted: Duration) -> Duration {
      min(max(wanted, Self.shortestInterval), Self.longestInterval)
    }
    alertInterval = clamp(interval ?? threshold / 10)
    calmInterval = max(alertInterval, clamp(threshold * 9 / 10))
    alertMoments = LookMoments(longest: alertInterval)
    calmMoments = LookMoments(longest: calmInterval)
    staysAlertFor = threshold * 4
  }

  /// `deadline` is when something becomes certain if nothing changes (start + threshold).
  package mutating func next(after look: Instant, isParked: Bool, deadline: Instant?) -> Instant {
    if !isParked { alertUntil = look + staysAlertFor }
    let isAlert = alertUntil.map { look < $0 } ?? false
    let latest = look + (isAlert ? alertInterval : calmInterval)
    let regular = (isAlert ? alertMoments : calmMoments).last(upTo: latest)
    let earliest = look + Self.shortestInterval
    guard let deadline, deadline > look else { return max(regular, earliest) }
    return max(min(regular, deadline), earliest)
  }
}
