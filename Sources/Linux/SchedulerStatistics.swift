// What the scheduler counts for a thread: `schedstat` and `sched` (fs/proc/base.c, kernel/sched/debug.c).

/// `/proc/PID/task/TID/schedstat`: three numbers.
package struct SchedulerStatistics: Sendable, Equatable {
  /// Time on a CPU; while the thread runs, as of the last tick.
  package var runNanoseconds: UInt64
  /// Time runnable but waiting for a CPU.
  package var runQueueDelayNanoseconds: UInt64
  package var timesScheduled: UInt64

  package init?(_ text: Span<UInt8>) {
    var position = 0
    guard let run = text.decimal(at: &position) else { return nil }
    text.skipBlanks(at: &position)
    guard let delay = text.decimal(at: &position) else { return nil }
    text.skipBlanks(at: &position)
    guard let times = text.decimal(at: &position) else { return nil }
    (runNanoseconds, runQueueDelayNanoseconds, timesScheduled) = (run, delay, times)
  }
}

/// The part of `/proc/PID/task/TID/sched` that is used. The file is there on kernels built with CONFIG_SCHED_DEBUG, and on
/// all since 6.15; nobody needs rights to read it.
package struct SchedulerDetail: Sendable, Equatable {
  /// `se.exec_start`, on the run-queue clock of the CPU the thread last ran on. For a blocked thread: the moment at which
  /// it blocked, since the scheduler brings it up to date when a thread leaves the CPU and never while it is away.
  package var accountedAtNanoseconds: UInt64
  package var voluntarySwitches: UInt64
  package var involuntarySwitches: UInt64

  package init?(_ text: Span<UInt8>) {
    // The header holds the thread's name. What follows the rule of dashes is the kernel's own: a name has 15 bytes.
    var start = 0
    while !text.matches("--------------------", at: start) {
      guard text.skipPast(0x0A, at: &start) else { return nil }
    }
    guard let accounted = Self.milliseconds(text, "se.exec_start", from: start),
      let voluntary = Self.count(text, "nr_voluntary_switches", from: start),
      let involuntary = Self.count(text, "nr_involuntary_switches", from: start)
    else { return nil }
    (accountedAtNanoseconds, voluntarySwitches, involuntarySwitches) = (accounted, voluntary, involuntary)
  }

  private static func valuePosition(_ text: Span<UInt8>, _ key: StaticString, from start: Int) -> Int? {
    guard var position = text.endOfKey(key, from: start) else { return nil }
    text.skipBlanks(at: &position)
    guard position < text.count, text[position] == 0x3A else { return nil }
    position += 1
    text.skipBlanks(at: &position)
    return position
  }

  private static func count(_ text: Span<UInt8>, _ key: StaticString, from start: Int) -> UInt64? {
    guard var position = valuePosition(text, key, from: start) else { return nil }
    return text.decimal(at: &position)
  }

  /// Milliseconds with six decimals.
  private static func milliseconds(_ text: Span<UInt8>, _ key: StaticString, from start: Int) -> UInt64? {
    guard var position = valuePosition(text, key, from: start), let whole = text.decimal(at: &position),
      position < text.count, text[position] == 0x2E
    else { return nil }
    position += 1
    guard let fraction = text.decimal(at: &position), fraction < 1_000_000 else { return nil }
    let (nanoseconds, overflow) = whole.multipliedReportingOverflow(by: 1_000_000)
    return overflow ? nil : nanoseconds &+ fraction
  }
}
