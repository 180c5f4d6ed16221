// Translates a moment on a CPU's run-queue clock, which is what the scheduler stores, to CLOCK_MONOTONIC.

internal import CLinux

/// The scheduler accounts in `rq_clock_task` (kernel/sched/sched.h): per CPU, without the time that the hypervisor or
/// interrupts stole, so it lags behind by an amount that differs between CPUs and grows. Our own `se.exec_start` is on the
/// same clock and at most a tick old, so that reading it on the same CPU gives the lag of now. The error is what was stolen
/// between the two moments: the translated moment is never early, and late by that much.
package struct RunQueueClock: ~Copyable {
  private let ownDetail: PseudoFile
  private var buffer = PseudoFile.makeBuffer()
  /// The CPUs this thread may use: 1,024 bits, as much as the C library's cpu_set_t.
  private var affinity = [UInt8](repeating: 0, count: 128)

  /// Belongs to the thread that makes it. Fails where the kernel has no `sched` file.
  package init() throws(Errno) { ownDetail = try PseudoFile("/proc/thread-self/sched") }

  /// Goes to that CPU for a moment if need be. Nil if it is not open to us.
  package mutating func monotonicNanoseconds(ofRunQueue moment: UInt64, onProcessor processor: Int32)
    -> Int64?
  {
    let mustMove = clinux_processor_of_caller() != processor
    if mustMove, !move(to: processor) { return nil }
    defer { if mustMove { moveBack() } }
    guard let count = try? ownDetail.read(into: &buffer),
      let own = SchedulerDetail(buffer.span.extracting(first: count)),
      clinux_processor_of_caller() == processor,
      let ownMoment = Int64(exactly: own.accountedAtNanoseconds), let other = Int64(exactly: moment)
    else { return nil }
    return other &+ (Clock.monotonicNanoseconds &- ownMoment)
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
