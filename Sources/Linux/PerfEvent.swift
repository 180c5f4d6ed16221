// An event on one thread that the kernel notes down in memory shared with us, perf_event_open(2).

internal import CLinux
internal import Glibc

/// What is asked for.
package struct PerfEventAttributes: Sendable {
  package enum Kind: Hashable, Sendable {
    /// Counts nothing. As long as any event of a thread is open, opening another takes 22 to 48 µs instead of the 10 to
    /// 20 ms in which the kernel turns its events on.
    case dummy
    /// The thread is about to execute the instruction at this address, in user mode.
    case execution(address: UInt64)
    /// The thread has been on a CPU for so long since the event was enabled.
    case processorTime(nanoseconds: UInt64)
  }

  package var kind: Kind
  package var samples: PerfSampleLayout

  package init(_ kind: Kind, samples: PerfSampleLayout = PerfSampleLayout(userRegisters: [])) {
    self.kind = kind
    self.samples = samples
  }

  fileprivate var raw: perf_event_attr {
    var raw = perf_event_attr()
    raw.size = UInt32(MemoryLayout<perf_event_attr>.size)
    raw.disabled = 1
    raw.exclude_kernel = samples.includesKernel ? 0 : 1
    raw.exclude_hv = 1
    switch kind {
    case .dummy:
      raw.type = UInt32(PERF_TYPE_SOFTWARE.rawValue)
      raw.config = UInt64(PERF_COUNT_SW_DUMMY.rawValue)
      return raw
    case .execution(let address):
      raw.type = UInt32(PERF_TYPE_BREAKPOINT.rawValue)
      raw.bp_type = UInt32(HW_BREAKPOINT_X)
      raw.bp_addr = address
      // The kernel asks for sizeof(long) (arch/x86/kernel/hw_breakpoint.c, `arch_build_bp_info`).
      raw.bp_len = 8
      raw.sample_period = 1
      // In another program of the same thread the address means something else.
      raw.remove_on_exec = 1
    case .processorTime(let nanoseconds):
      raw.type = UInt32(PERF_TYPE_SOFTWARE.rawValue)
      raw.config = UInt64(PERF_COUNT_SW_CPU_CLOCK.rawValue)
      raw.sample_period = nanoseconds
    }
    raw.use_clockid = 1
    raw.clockid = CLOCK_MONOTONIC
    raw.sample_type = UInt64(PERF_SAMPLE_TIME.rawValue)
    if samples.includesKernel {
      raw.sample_type |= UInt64(PERF_SAMPLE_CALLCHAIN.rawValue)
      raw.exclude_callchain_user = 1
    }
    if samples.userRegisters != 0 { raw.sample_type |= UInt64(PERF_SAMPLE_REGS_USER.rawValue) }
    if samples.stackBytes != 0 { raw.sample_type |= UInt64(PERF_SAMPLE_STACK_USER.rawValue) }
    raw.sample_regs_user = samples.userRegisters
    raw.sample_stack_user = samples.stackBytes
    // Nobody is woken by a sample: in a virtual machine the interrupt for it costs the target some microseconds.
    raw.watermark = 1
    raw.wakeup_watermark = .max
    return raw
  }
}

/// Owns the event and the memory of its records. Opened switched off. One that is switched on for so many samples is used
/// up when it is off again (`enable(for:)`), so its records lie in the memory from its start; one that runs freely
/// (`enable()`) goes around in it, and is emptied by `take(from:into:)`.
@safe package struct PerfEvent: ~Copyable {
  /// What its samples hold.
  package let samples: PerfSampleLayout
  private let descriptor: FileDescriptor
  private let header: UnsafeMutableRawPointer?
  private let dataBytes: Int

  /// Fails with `noSpace` where the thread's breakpoints are all taken, with `noSuchProcess` when it has ended, and with
  /// `invalidArgument` below Linux 5.13 (`remove_on_exec`). 0 is the calling thread. `dataPages` is a power of two, or 0
  /// where no samples are expected.
  package init(_ attributes: PerfEventAttributes, thread: Int32, dataPages: Int) throws(Errno) {
    var raw = attributes.raw
    let opened = FileDescriptor(owning: try systemCall { unsafe clinux_perf_event_open(&raw, thread) })
    let bytes = dataPages * 4096
    let map = unsafe dataPages == 0 ? nil : clinux_perf_map(opened.rawValue, bytes)
    if unsafe map == MAP_FAILED { throw Errno(errno) }
    samples = attributes.samples
    descriptor = opened
    unsafe header = map
    dataBytes = bytes
  }

  /// The same, with samples from inside of the kernel where that is allowed.
  package static func reachingIntoKernel(
    _ attributes: PerfEventAttributes, thread: Int32, dataPages: Int
  ) throws(Errno) -> PerfEvent {
    var everywhere = attributes
    everywhere.samples.includesKernel = true
    do throws(Errno) { return try PerfEvent(everywhere, thread: thread, dataPages: dataPages) } catch {
      guard error.meansNotAllowed else { throw error }
    }
    return try PerfEvent(attributes, thread: thread, dataPages: dataPages)
  }

  deinit { if let header = unsafe header { unsafe clinux_perf_unmap(header, dataBytes) } }

  /// Switches it on for so many samples. An event that has used them up can not be switched on again: newer kernels leave
  /// it stopped (kernel/events/core.c, `__perf_event_overflow`), and no sample comes.
  package func enable(for samples: Int32) throws(Errno) {
    let raw = descriptor.rawValue
    _ = try systemCall { clinux_perf_enable_for(raw, samples) }
  }

  /// Switches it on for as long as it lives.
  package func enable() throws(Errno) {
    let raw = descriptor.rawValue
    _ = try systemCall { clinux_perf_enable(raw) }
  }

  /// From now on a sample comes after so much more time.
  package func setPeriod(nanoseconds: UInt64) throws(Errno) {
    let raw = descriptor.rawValue
    _ = try systemCall { clinux_perf_set_period(raw, nanoseconds) }
  }

  package func disable() throws(Errno) {
    let raw = descriptor.rawValue
    _ = try systemCall { clinux_perf_disable(raw) }
  }

  /// Its thread has ended, or executes another program.
  package var hasEnded: Bool {
    var entry = pollfd(fd: descriptor.rawValue, events: 0, revents: 0)
    return unsafe poll(&entry, 1, 0) > 0 && entry.revents & Int16(POLLHUP | POLLERR) != 0
  }

  /// What the kernel has noted so far. Of more than there is room for, the first part: the kernel overwrites nothing.
  package func withRecords<Result>(_ body: (RawSpan) -> Result) -> Result {
    guard let header = unsafe header else { return body(RawSpan()) }
    let count = min(Int(clamping: unsafe clinux_perf_written(header)), dataBytes)
    let data = unsafe UnsafeRawBufferPointer(start: header + 4096, count: count)
    return body(unsafe data.bytes)
  }

  /// Copies what the kernel has noted since `position`, where the last call has ended, and makes room for more. The buffer
  /// is as large as the memory of the event: what goes on at its start lies in one piece in the copy.
  package func take(from position: inout UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    guard let header = unsafe header, buffer.count >= dataBytes else { return 0 }
    let written = unsafe clinux_perf_written(header)
    let count = min(Int(clamping: written &- position), dataBytes)
    let start = Int(position % UInt64(dataBytes))
    let front = min(count, dataBytes - start)
    let data = unsafe UnsafeRawBufferPointer(start: header + 4096, count: dataBytes)
    unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<front]).copyMemory(
      from: UnsafeRawBufferPointer(rebasing: data[start..<start + front]))
    unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[front..<count]).copyMemory(
      from: UnsafeRawBufferPointer(rebasing: data[..<(count - front)]))
    position = written
    unsafe clinux_perf_release(header, written)
    return count
  }
}
