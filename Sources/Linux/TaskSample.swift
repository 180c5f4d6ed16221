// What the task iterator tells of one thread that is asked for: all of one moment, with its user registers.

internal import CLinux

package struct TaskSample: Sendable {
  private let raw: clinux_task_sample

  /// Nil for fewer bytes than it has.
  package init?(_ bytes: RawSpan) {
    guard bytes.byteCount >= MemoryLayout<clinux_task_sample>.size else { return nil }
    raw = unsafe bytes.unsafeLoadUnaligned(as: clinux_task_sample.self)
  }

  /// What is told of every thread.
  package var thread: ThreadSample { ThreadSample(raw.thread) }

  /// On CLOCK_MONOTONIC.
  package var atNanoseconds: Int64 { Int64(clamping: raw.moment) }

  /// What `runNanoseconds` was when it was last put on a CPU. Only the fair scheduling class keeps it.
  package var runNanosecondsAtArrival: UInt64? {
    // SCHED_NORMAL, SCHED_BATCH, SCHED_IDLE (<linux/sched.h>).
    let isFair = raw.policy == 0 || raw.policy == 3 || raw.policy == 5
    return isFair && raw.run_time_at_arrival <= raw.thread.run_time ? raw.run_time_at_arrival : nil
  }
  package var runQueueDelayNanoseconds: UInt64 { raw.run_queue_delay }
  package var voluntarySwitches: UInt64 { raw.voluntary_switches }
  package var involuntarySwitches: UInt64 { raw.involuntary_switches }
  package var minorFaults: UInt64 { raw.minor_faults }
  package var majorFaults: UInt64 { raw.major_faults }
  /// In clock ticks, 100 a second.
  package var userTicks: UInt64 { raw.user_time / 10_000_000 }
  package var systemTicks: UInt64 { raw.kernel_time / 10_000_000 }
  /// In clock ticks since boot, as `/proc/PID/stat` has it: with the id, the identity of a task.
  package var startTicks: UInt64 { raw.started_at / 10_000_000 }
  /// Zeros once the process is on its way out.
  package var image: ImageMark {
    ImageMark(codeStart: raw.code_start, codeEnd: raw.code_end, stackStart: raw.stack_start)
  }

  /// By its cgroup: JOBCTL_TRAP_FREEZE (version 2, and it has reached the trap where it sleeps), or TASK_FROZEN (version 1;
  /// before Linux 6.1 the flag PF_FROZEN).
  package var isFrozen: Bool {
    thread.isOffProcessor
      && (raw.job_control & 1 << 23 != 0 && raw.thread.state & 1 != 0 || raw.thread.state & 0x8000 != 0)
  }
}

/// Moments on the scheduler's own clock; `SchedulerClock` translates them.
extension TaskSample {
  /// When it was last put on a CPU.
  package var arrivedAt: UInt64 { raw.arrived_at }
  /// When the thread that reads was put on its CPU: before this sample was taken.
  package var readerArrivedAt: UInt64 { raw.reader_arrived_at }
  /// When it left the CPU, if it is off it; nil where the kernel does not tell. What was stolen from its CPU since comes on
  /// top: never early.
  package var departedAt: UInt64? {
    guard thread.isOffProcessor, raw.processor_lag != clinux_task_lag_unknown else { return nil }
    return raw.accounted_at &+ raw.processor_lag
  }
}
