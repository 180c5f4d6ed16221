// The waits of the watch thread: what came between when one of them was late, and what is said about it.

internal import Linux
internal import Reports
internal import StallCore

struct OwnWaits: ~Copyable {
  private var continuity: WatchContinuity
  private var schedule: OwnSchedule?
  private var spokenAt: Instant?
  /// Gaps that were not spoken of: how many, and how long in all.
  private var unspoken: (count: Int, time: Duration) = (0, .zero)

  /// On a machine that never gives us the CPU in time, one remark in so long is enough.
  private static let betweenRemarks: Duration = .seconds(10)

  init(shortestInterval: Duration) {
    continuity = WatchContinuity(shortestInterval: shortestInterval)
    schedule = try? OwnSchedule()
  }

  /// After each wait.
  mutating func end(began: Instant, dueAt: Instant, endedAt: Instant, wasContinued: Bool) -> WatchGap? {
    let before = Clock.monotonicNanoseconds
    let boot = Clock.bootNanoseconds
    let after = Clock.monotonicNanoseconds
    let wait = OwnWait(
      began: began, dueAt: dueAt, endedAt: endedAt,
      sleptInAll: boot - after...boot - before,
      wasContinued: wasContinued)
    return continuity.observe(wait) {
      (schedule?.runQueueDelayNanoseconds()).map { .nanoseconds(Int64(clamping: $0)) } ?? nil
    }
  }

  /// What happens once is always spoken of; nil: not now.
  mutating func remark(_ gap: WatchGap, at now: Instant) -> (kind: NoticeKind, text: String)? {
    if case .suspended(let time) = gap {
      return (.suspended, "the machine was suspended for \(time.spoken); nothing of that counts")
    }
    guard case .starved = gap else { return (.observerLate, Self.sentence(gap)) }
    unspoken.count += 1
    unspoken.time += gap.duration
    if let spokenAt, now - spokenAt < Self.betweenRemarks { return nil }
    defer { (spokenAt, unspoken) = (now, (0, .zero)) }
    let times = unspoken.count > 1 ? "\(unspoken.count) times, \(unspoken.time.spoken) in all, " : ""
    return (.observerLate, "\(times)\(Self.sentence(gap))")
  }

  private static func sentence(_ gap: WatchGap) -> String {
    let unseen = "what the program did meanwhile is known only if it did not move"
    let time = gap.duration.spoken
    switch gap {
    case .starved: return "stallwatch got no CPU for \(time); \(unseen)"
    case .stopped: return "stallwatch was stopped by a signal for \(time); \(unseen)"
    case .held, .suspended:
      return
        "stallwatch stood still for \(time), perhaps with its cgroup or the machine; nothing of that counts"
    }
  }
}
