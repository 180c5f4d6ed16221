// Translates a moment on a CPU's run-queue clock, which is what the scheduler stores, to CLOCK_MONOTONIC.

internal import CLinux

/// The scheduler accounts in `rq_clock_task` (kernel/sched/sched.h): per CPU, without the time that the hypervisor or
/// interrupts stole, so it lags behind by an amount that differs between CPUs and only grows. Our own `se.exec_start` is on
/// the same clock, so that reading it on the same CPU gives the lag of now. A moment before the reading is late by what
/// was stolen since; with the lag of an earlier reading it is early by what was stolen since that.
package struct RunQueueClock: ~Copyable {
  private let ownDetail: PseudoFile
  private var buffer = PseudoFile.makeBuffer()
  /// The CPUs this thread may use: 1,024 bits, as much as the C library's cpu_set_t.
  private var affinity = [UInt8](repeating: 0, count: 128)
  private var readings = InlineArray<8, Reading>(repeating: Reading())
  private var next = 0

  private struct Reading {
    var processor: Int32 = -1
    /// On the clock of the queue.
    var moment: Int64 = 0
    /// We may be interrupted between two clocks: the lag lies between these.
    var leastLag: Int64 = 0
    var mostLag: Int64 = 0
  }

  /// Belongs to the thread that makes it. Fails where the kernel has no `sched` file.
  package init() throws(Errno) { ownDetail = try PseudoFile("/proc/thread-self/sched") }

  /// The moment is never after the first, and never before the second, which not every CPU was visited early enough for.
  /// Goes to that CPU for a moment if need be. Nil if it is not open to us.
  package mutating func monotonicNanoseconds(
    ofRunQueue moment: UInt64, onProcessor processor: Int32
  ) -> (latest: Int64, earliest: Int64?)? {
    guard let moment = Int64(exactly: moment) else { return nil }
    guard let after = reading(after: moment, processor) ?? visit(processor) else { return nil }
    let before = reading(before: moment, processor)
    return (moment &+ after.mostLag, before.map { moment &+ $0.leastLag &- Self.drift(moment &- $0.moment) })
  }

  /// The clocks run apart by 500 millionths at most, as adjtimex(2) allows.
  private static func drift(_ nanoseconds: Int64) -> Int64 { 20_000 &+ nanoseconds / 2_000 }

  private func reading(after moment: Int64, _ processor: Int32) -> Reading? {
    var found: Reading?
    for index in readings.indices where readings[index].processor == processor {
      if readings[index].moment >= moment, readings[index].moment < found?.moment ?? .max {
        found = readings[index]
      }
    }
    return found
  }

  private func reading(before moment: Int64, _ processor: Int32) -> Reading? {
    var found: Reading?
    for index in readings.indices where readings[index].processor == processor {
      if readings[index].moment < moment, readings[index].moment > found?.moment ?? .min {
        found = readings[index]
      }
    }
    return found
  }

  private mutating func visit(_ processor: Int32) -> Reading? {
    let mustMove = clinux_processor_of_caller() != processor
    if mustMove, !move(to: processor) { return nil }
    defer { if mustMove { moveBack() } }
    let began = Clock.monotonicNanoseconds
    // Brings it up to date (kernel/sched/core.c, `task_sched_runtime`); by itself it may be a tick old.
    _ = Clock.ownThreadCPUNanoseconds
    guard let count = try? ownDetail.read(into: &buffer),
      let own = SchedulerDetail(buffer.span.extracting(first: count)),
      clinux_processor_of_caller() == processor, let moment = Int64(exactly: own.accountedAtNanoseconds)
    else { return nil }
    let reading = Reading(
      processor: processor, moment: moment, leastLag: began &- moment,
      mostLag: Clock.monotonicNanoseconds &- moment)
    readings[next] = reading
    next = (next + 1) % readings.count
    return reading
  }

  private mutating func move(to processor: Int32) -> Bool {
    let isSaved = unsafe affinity.withUnsafeMutableBytes {
      unsafe clinux_save_affinity($0.baseAddress, $0.count)
    }
    return isSaved && clinux_pin_to_processor(processor) == 0
  }

  private func moveBack() {
    _ = unsafe affinity.withUnsafeBytes { unsafe clinux_restore_affinity($0.baseAddress, $0.count) }
  }
}
