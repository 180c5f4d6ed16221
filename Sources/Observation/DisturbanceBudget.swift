// How much of a thread's time our breakpoints may take, and what each thing costs it.

internal import Linux
internal import StallCore

/// At most one two-hundredth of the thread's time in the long run, and `most` at once. While it is held up by one piece of
/// work, a tenth: that the loop does not come round must be seen then or never, and whoever waits for it waits anyway. A
/// thread that writes to a disk in small pieces is switched 16,000 times a second, which is a twelfth here.
///
/// Measured in a virtual machine, where each of these leaves the guest; on bare metal it is a tenth of that. A thread that
/// spins pays 45 µs for an arming (three interrupts from another CPU), 20 for the fire that uses it up, 9.4 for every
/// other one. While one is armed, going to sleep and waking up again costs 5 µs more, since the debug registers belong to
/// the thread; an event that is used up costs nothing that could be measured.
struct DisturbanceBudget {
  private static let share = 200
  private static let shareWhileHeldUp = 10
  private static let most: Duration = .milliseconds(10)
  static let arming: Duration = .microseconds(55)
  static let fire: Duration = .microseconds(10)
  static let scheduling: Duration = .microseconds(5)

  /// Below zero after more was spent than foreseen.
  private(set) var left = most
  private var last: Instant?

  init() {}

  /// Time passes.
  mutating func refill(at now: Instant, isHeldUp: Bool) {
    let share = isHeldUp ? Self.shareWhileHeldUp : Self.share
    if let last, now > last { left = min(Self.most, left + (now - last) / share) }
    last = now
  }

  mutating func spend(_ cost: Duration) { left -= cost }

  /// Spent for one that stands armed.
  mutating func spend(fires: Int, scheduled: UInt64) {
    left -= Self.fire * fires + Self.scheduling * Int(clamping: min(scheduled, 1 << 20))
  }

  /// A loop that passes seldom is seen at every pass until the next look; one that passes all the time uses up what there
  /// is, and gets less the next time.
  private static let fires: ClosedRange<Int64> = 4...Int64(ExecutionBreakpoint.mostFires)

  /// How many fires an arming may bring now; nil: not even a few.
  var firesAllowed: Int32? {
    let affordable = (left - Self.arming).nanoseconds / Self.fire.nanoseconds
    guard affordable >= Self.fires.lowerBound else { return nil }
    return Int32(min(max(affordable / 2, Self.fires.lowerBound), Self.fires.upperBound))
  }
  /// A thread that is switched very often while it is held up, by one short read after the other, has it armed for that
  /// long; then it is saved up again.
  private static let mostOverdraft: Duration = .milliseconds(40)

  var isOverdrawn: Bool { left < .zero - Self.mostOverdraft }
}
