// The way to a running thread that does not stop it: one perf sample of its registers and the top of its stack.

package import Linux
internal import StallCore

/// A timer of the thread's own CPU time interrupts it once; the kernel copies in the interrupt. For a thread that spins
/// that is a pause of about 18 µs here, no longer than that of a clock tick, and three shorter ones around it.
package enum PerfCapture {
  /// Copying 16 KB took the interrupt from 18 to 25 µs, 1 KB would be 15.
  private static let stackBytes: UInt32 = 8192
  /// One sample fits, and no second one, which would cost the target another copy.
  private static let pages = 4
  private static let cpuTime: UInt64 = 100_000
  /// Two: the kernel switches off an event that has used up its samples inside the interrupt, which takes almost as long
  /// again (31 instead of 18 µs). It is closed after the first one, and the second is the most that can come.
  private static let mostSamples: Int32 = 2

  /// A thread that runs on another CPU has given its sample by then.
  private static let timeToBeQuick: Int64 = 250_000
  private static let pause = 100_000
  /// Its run time is brought up to date at clock ticks.
  private static let mostTimeWithoutSample: UInt64 = 10_000_000

  /// Why the kernel does not let us, found out by doing it but for the sample; nil if it does.
  package static func refusal(forThread threadID: Int32) -> Errno? {
    let attributes = PerfEventAttributes(.processorTime(nanoseconds: cpuTime), samples: layout)
    do throws(Errno) { _ = try PerfEvent(attributes, thread: threadID, dataPages: pages) } catch {
      return error
    }
    return nil
  }

  /// Fails with `moved` when the thread blocks before a sample came, with `timedOut` when it got no CPU until `end`, with
  /// `running` when it did, and gave none: without rights, samples inside of system calls are not to be had.
  static func take(
    _ look: ThreadLook, buffer: borrowing CopyBuffer, limit: Int, until end: Int64
  ) throws(CaptureFailure) -> CapturedThread {
    let threadID = look.threadID
    let most = min(limit, Int(stackBytes))
    let event = try start(threadID)
    let sample = try wait(for: event, look, into: buffer, most, until: end)
    // None on the way out.
    guard let stackPointer = sample.registers[Registers.stackPointer] else { throw .moved }
    let memory = ProcessMemory(ofThread: threadID)
    var stack = StackCopy(
      of: stackPointer, copied: sample.stackCount, memory: memory, buffer: buffer, limit: most)
    if stack.isCut(at: most) {
      stack.addRest(ofThread: threadID, memory: memory, buffer: buffer, isLater: true)
    }
    return CapturedThread(
      way: .perf, registers: sample.registers, stack: stack, stoppedNanoseconds: 0,
      takenAtNanoseconds: sample.atNanoseconds, kernelAddresses: sample.kernelAddresses)
  }

  private static let layout = PerfSampleLayout(
    userRegisters: PerfRegisters.Register.allCases, stackBytes: stackBytes)

  private static func start(_ threadID: Int32) throws(CaptureFailure) -> PerfEvent {
    let attributes = PerfEventAttributes(.processorTime(nanoseconds: cpuTime), samples: layout)
    do throws(Errno) {
      let event = try PerfEvent.reachingIntoKernel(attributes, thread: threadID, dataPages: pages)
      try event.enable(for: mostSamples)
      return event
    } catch { throw CaptureFailure(error) }
  }

  private struct Sample {
    var atNanoseconds: Int64
    var registers: Registers
    var stackCount: Int
    var kernelAddresses: [UInt64]
  }

  /// Takes the event along: it ends with the first sample.
  private static func wait(
    for event: consuming PerfEvent, _ look: ThreadLook, into buffer: borrowing CopyBuffer, _ most: Int,
    until end: Int64
  ) throws(CaptureFailure) -> Sample {
    let quickEnd = look.needsOurProcessor ? 0 : Clock.monotonicNanoseconds &+ timeToBeQuick
    var ranBefore: UInt64?
    while true {
      if let sample = read(event, into: buffer, most) { return sample }
      let now = Clock.monotonicNanoseconds
      if now < quickEnd { continue }
      guard try look.isRunning() else { throw .moved }
      let ran = try look.schedulerStatistics().runNanoseconds
      if ran &- (ranBefore ?? ran) > mostTimeWithoutSample { throw .running }
      ranBefore = ranBefore ?? ran
      if now >= end { throw .timedOut }
      // It may need the CPU that we are on.
      Clock.pause(nanoseconds: pause)
    }
  }

  private static func read(
    _ event: borrowing PerfEvent, into buffer: borrowing CopyBuffer, _ most: Int
  ) -> Sample? {
    let target = unsafe buffer.prefix(most)
    let layout = event.samples
    return event.withRecords { data in
      var position = 0
      while let record = PerfRecord.next(in: data, at: &position, layout) {
        guard case .sample(let sample) = record else { continue }
        let stack = data.extracting(sample.stack).extracting(first: most)
        unsafe stack.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
        return Sample(
          atNanoseconds: sample.atNanoseconds, registers: Registers(sample.registers),
          stackCount: stack.byteCount, kernelAddresses: sample.kernelAddresses)
      }
      return nil
    }
  }
}

extension Registers {
  /// In the order of the DWARF numbers.
  private static let perfRegisters: [PerfRegisters.Register] = [
    .rax, .rdx, .rcx, .rbx, .rsi, .rdi, .rbp, .rsp, .r8, .r9, .r10, .r11, .r12, .r13, .r14, .r15, .rip,
  ]

  init(_ perf: PerfRegisters) {
    self.init()
    for (number, register) in Registers.perfRegisters.enumerated() { self[number] = perf[register] }
  }
}
