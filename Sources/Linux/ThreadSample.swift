// What the task iterator tells of each thread of a process: enough to copy its stack.

internal import CLinux

package struct ThreadSample: Sendable {
  private let raw: clinux_thread_sample

  package static let byteCount = MemoryLayout<clinux_thread_sample>.size

  init(_ raw: clinux_thread_sample) { self.raw = raw }

  /// The sample at this place of what was read; nil if there is not all of it.
  package init?(_ bytes: RawSpan, at position: Int) {
    guard position >= 0, bytes.byteCount - position >= Self.byteCount else { return nil }
    raw = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: position, as: clinux_thread_sample.self)
  }

  package var processID: Int32 { raw.process }
  package var threadID: Int32 { raw.thread }

  /// Off the CPU from before the first to after the last of what is told of it. Otherwise `registers` are of some earlier
  /// moment, and the numbers need not be of the same one.
  package var isOffProcessor: Bool { raw.is_off_processor != 0 }

  /// Up to a tick old while it runs.
  package var runNanoseconds: UInt64 { raw.run_time }
  package var timesScheduled: UInt64 { raw.times_scheduled }

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

extension ThreadSample {
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

  /// It belongs to the kernel and has no code of the program: PF_KTHREAD, PF_IO_WORKER, PF_USER_WORKER
  /// (include/linux/sched.h).
  package var isKernelThread: Bool { raw.flags & (0x0020_0000 | 0x10 | 0x4000) != 0 }
}
