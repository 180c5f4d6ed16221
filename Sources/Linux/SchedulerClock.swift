// Translates moments on the scheduler's clock, as task samples have them, to CLOCK_MONOTONIC.

/// The scheduler notes arrivals in `rq_clock` (kernel/sched/sched.h): one clock for all CPUs that began elsewhere than
/// CLOCK_MONOTONIC and is not steered as that one is, so they drift apart by some millionths.
///
/// Every sample tells when its reader was put on a CPU. A watch reads as soon as it is woken, so the moment of the sample is
/// little later: the least distance of late is the distance of the clocks, or some microseconds more.
package struct SchedulerClock: Sendable {
  private var least: Int64?
  private var leastBefore: Int64?
  private var stretchBegan: Int64 = 0
  private static let stretch: Int64 = 10_000_000_000

  package init() {}

  package mutating func learn(from sample: TaskSample) {
    let now = sample.atNanoseconds
    if now &- stretchBegan > Self.stretch { (leastBefore, least, stretchBegan) = (least, nil, now) }
    let distance = now &- Int64(truncatingIfNeeded: sample.readerArrivedAt)
    least = min(least ?? distance, distance)
  }

  /// At most some microseconds late. Nil before the first sample.
  package func monotonicNanoseconds(of moment: UInt64) -> Int64? {
    // Of every look: without an array.
    guard let least = least ?? leastBefore else { return nil }
    return Int64(truncatingIfNeeded: moment) &+ min(least, leastBefore ?? least)
  }
}
