// What one read of the task iterator tells of one thread: all of one moment, with its user registers.

internal import CLinux

package struct TaskSample: Sendable {
  private var raw: clinux_task_sample

  package static let byteCount = MemoryLayout<clinux_task_sample>.size

  init(_ raw: clinux_task_sample) { self.raw = raw }

  /// The sample at this place of what was read; nil if there is not all of it.
  package init?(_ bytes: RawSpan, at position: Int) {
    guard position >= 0, bytes.byteCount - position >= Self.byteCount else { return nil }
    raw = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: position, as: clinux_task_sample.self)
  }

  /// On CLOCK_MONOTONIC.
  package var atNanoseconds: Int64 { Int64(clamping: raw.moment) }
  package var processID: Int32 { raw.process }
  package var threadID: Int32 { raw.thread }
  /// As the thread itself knows them: a process in a container has ids of its own.
  package var innerProcessID: Int32 { raw.inner_process }
  package var innerThreadID: Int32 { raw.inner_thread }

  /// Off the CPU from before the first to after the last of this was read. Otherwise `registers` are of some earlier
  /// moment, and the numbers need not be of the same one.
  package var isOffProcessor: Bool { raw.is_off_processor != 0 }

  /// Up to a tick old while it runs.
  package var runNanoseconds: UInt64 { raw.run_time }
  /// What `runNanoseconds` was when it was last put on a CPU. Only the fair scheduling class keeps it.
  package var runNanosecondsAtArrival: UInt64? {
    // SCHED_NORMAL, SCHED_BATCH, SCHED_IDLE (<linux/sched.h>).
    let isFair = raw.policy == 0 || raw.policy == 3 || raw.policy == 5
    return isFair && raw.run_time_at_arrival <= raw.run_time ? raw.run_time_at_arrival : nil
  }
  package var runQueueDelayNanoseconds: UInt64 { raw.run_queue_delay }
  package var timesScheduled: UInt64 { raw.times_scheduled }
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
  package var registers: KernelRegisters {
    unsafe withUnsafeBytes(of: raw.registers) { unsafe KernelRegisters(userPart: $0.bytes) }
  }
  /// Its code is of 64 bits: the code segment is `__USER_CS` (arch/x86/include/asm/segment.h).
  package var isWide: Bool { raw.registers.17 & 0xFFFF == 0x33 }

  /// Any bytes but NUL.
  package func withName<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
    unsafe withUnsafeBytes(of: raw.name) { bytes in
      let count = unsafe bytes.firstIndex(of: 0) ?? bytes.count
      return unsafe body(bytes.bindMemory(to: UInt8.self).span.extracting(first: count))
    }
  }
}

extension TaskSample {
  /// The letter of `/proc/PID/stat` (fs/proc/array.c, `get_task_state`; include/linux/sched.h, `__task_state_index`).
  package var state: UInt8 {
    let reported = (raw.state | raw.exit_state) & 0x7F
    // TASK_IDLE is TASK_UNINTERRUPTIBLE | TASK_NOLOAD. TASK_RTLOCK_WAIT and TASK_FROZEN are shown as D.
    if raw.state & 0x402 == 0x402 { return UInt8(ascii: "I") }
    if reported == 0, raw.state & 0x9000 != 0 { return UInt8(ascii: "D") }
    return Self.letters[UInt32.bitWidth - reported.leadingZeroBitCount]
  }

  private static let letters: InlineArray<8, UInt8> = [0x52, 0x53, 0x44, 0x54, 0x74, 0x58, 0x5A, 0x50]

  /// Runs, or waits for a CPU.
  package var isRunnable: Bool { raw.state == 0 && raw.exit_state == 0 }

  package var hasEnded: Bool { raw.exit_state != 0 }

  /// By its cgroup: JOBCTL_TRAP_FREEZE (version 2, and it has reached the trap where it sleeps), or TASK_FROZEN (version 1;
  /// before Linux 6.1 the flag PF_FROZEN).
  package var isFrozen: Bool {
    isOffProcessor
      && (raw.job_control & 1 << 23 != 0 && raw.state & 1 != 0 || raw.state & 0x8000 != 0)
  }

  /// It belongs to the kernel and has no code of the program: PF_KTHREAD, PF_IO_WORKER, PF_USER_WORKER
  /// (include/linux/sched.h).
  package var isKernelThread: Bool { raw.flags & (0x0020_0000 | 0x10 | 0x4000) != 0 }
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
    guard isOffProcessor, raw.processor_lag != clinux_task_lag_unknown else { return nil }
    return raw.accounted_at &+ raw.processor_lag
  }
}
