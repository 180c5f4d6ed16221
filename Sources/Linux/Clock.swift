// The clocks that are read: monotonic, wall, boot, and the CPU clocks of processes.

internal import Glibc

package enum Clock {
  /// CLOCK_MONOTONIC in nanoseconds: stands still while the machine is suspended.
  package static var monotonicNanoseconds: Int64 { read(CLOCK_MONOTONIC) }

  /// CLOCK_REALTIME in nanoseconds since 1970.
  package static var wallNanoseconds: Int64 { read(CLOCK_REALTIME) }

  /// CLOCK_BOOTTIME in nanoseconds: goes on while the machine is suspended.
  package static var bootNanoseconds: Int64 { read(CLOCK_BOOTTIME) }

  /// The moment that `startTicks` of proc_pid_stat(5) tells: it counts from boot, the sleep of the machine included, in
  /// ticks of USER_HZ, which is 100.
  package static func monotonicNanoseconds(ofStartTicks ticks: UInt64) -> Int64 {
    Int64(clamping: ticks.multipliedReportingOverflow(by: 10_000_000).partialValue)
      &- (bootNanoseconds - monotonicNanoseconds)
  }

  /// CPU time of this process, all threads.
  package static var ownCPUNanoseconds: Int64 { read(CLOCK_PROCESS_CPUTIME_ID) }

  /// CPU time of the calling thread. The kernel brings its own account up to date to tell it.
  package static var ownThreadCPUNanoseconds: Int64 { read(CLOCK_THREAD_CPUTIME_ID) }

  /// CPU time of another process, all threads, also ended ones, in nanoseconds; needs no rights.
  package static func processCPUNanoseconds(_ pid: Int32) throws(Errno) -> Int64 {
    var clock = clockid_t()
    let error = unsafe clock_getcpuclockid(pid, &clock)
    if error != 0 { throw Errno(error) }
    var time = timespec()
    _ = try systemCall { unsafe clock_gettime(clock, &time) }
    return nanoseconds(time)
  }

  /// Waits; shorter if a signal comes.
  package static func pause(nanoseconds: Int) {
    var time = timespec(tv_sec: 0, tv_nsec: nanoseconds)
    unsafe nanosleep(&time, nil)
  }

  private static func read(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return nanoseconds(time)
  }

  private static func nanoseconds(_ time: timespec) -> Int64 {
    Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
