// Samples of a running thread that come by themselves while an event of the kernel is switched on: nothing is stopped.

package import Linux
package import StallCore

/// The thread on a CPU, at one moment.
package struct StackSample: Sendable {
  package let at: Instant
  package let registers: Registers
  /// From the stack pointer upwards.
  let stack: [UInt8]
  /// See `PerfSample`. Of equal samples that of the first one.
  let kernelAddresses: [UInt64]
  /// Equal ones, which came one after the other, count as often.
  package fileprivate(set) var count = 1
  private let digest: UInt64

  /// There may be more of the stack.
  package var isCut: Bool { stack.count == Int(StackSampler.stackBytes) }
  package var byteCount: Int { stack.count }

  package init(at: Instant, registers: Registers, stack: [UInt8], kernelAddresses: [UInt64] = []) {
    (self.at, self.registers, self.stack) = (at, registers, stack)
    self.kernelAddresses = kernelAddresses
    digest = unsafe StackSample.digest(stack.span.bytes)
  }

  /// Of the program's own stack. How far it has come in the kernel makes no difference.
  fileprivate func isSame(as other: StackSample) -> Bool {
    digest == other.digest && stack == other.stack
      && kernelAddresses.isEmpty == other.kernelAddresses.isEmpty
      && registers.programCounter == other.registers.programCounter
      && registers.stackPointer == other.registers.stackPointer
      && registers[Registers.framePointer] == other.registers[Registers.framePointer]
  }

  /// Word by word: FNV-1a by bytes would take longer than the copy.
  private static func digest(_ bytes: RawSpan) -> UInt64 {
    var digest: UInt64 = 0xcbf2_9ce4_8422_2325
    for offset in stride(from: 0, to: bytes.byteCount & ~7, by: 8) {
      let word = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
      digest = (digest ^ word) &* 0x0000_0100_0000_01b3
      digest ^= digest >> 29
    }
    return digest
  }
}

/// What came since the last look.
package struct SampleBatch: Sendable {
  package fileprivate(set) var samples: [StackSample] = []
  /// The kernel found no room for so many more, or they held nothing.
  package fileprivate(set) var lost = 0

  package init() {}

  /// Of those whose stacks are there.
  package var count: Int { samples.reduce(0) { $0 + $1.count } }
  package var byteCount: Int { samples.reduce(0) { $0 + $1.byteCount } }

  /// Lets the stacks go.
  package mutating func dropStacks() { (samples, lost) = ([], lost + count) }
}

/// A timer of the thread's own time on a CPU interrupts it again and again; the kernel copies in the interrupt, which takes
/// as long as one of `PerfCapture`. Where the thread sleeps, nothing happens at all.
package struct StackSampler: ~Copyable {
  package static let stackBytes: UInt32 = 8192
  /// Registers, sizes, the kernel's part and the header of a record beside the stack.
  private static let recordBytes = Int(stackBytes) + 512
  /// An unprivileged user may have 516 KB for all events together (`kernel.perf_event_mlock_kb`), these pages and another.
  private static let mostPages = 128
  private static let leastPages = 8
  private static let layout = PerfSampleLayout(
    userRegisters: PerfRegisters.Register.allCases, stackBytes: stackBytes)

  private let event: PerfEvent
  /// As large as the memory of the event, in which a record may lie across the end.
  private var buffer: [UInt8]
  private var position: UInt64 = 0
  package private(set) var distance: Duration
  /// What finds no room is lost, and always at the end of the time between two looks: rather fewer samples.
  private let leastDistance: Duration

  /// Switched on at once. `looksApart`: how often the samples are taken out, at the least. The first event of a machine
  /// takes 10 to 20 ms to open: keep one open.
  package init(thread: Int32, distance: Duration, looksApart: Duration) throws(Errno) {
    let expected = Int(looksApart / distance * 2) + 4
    var pages = Self.leastPages
    while pages < Self.mostPages, pages * 4096 < expected * Self.recordBytes { pages *= 2 }
    let opened = try Self.open(thread, distance, &pages)
    let room = pages * 4096 / Self.recordBytes
    let least = looksApart / (room - room / 5)
    try opened.setPeriod(nanoseconds: Self.period(max(distance, least)))
    try opened.enable()
    event = opened
    buffer = [UInt8](repeating: 0, count: pages * 4096)
    (leastDistance, self.distance) = (least, max(distance, least))
  }

  private static func period(_ distance: Duration) -> UInt64 { UInt64(max(1, distance.nanoseconds)) }

  /// What other events leave of the memory may be less than is wanted.
  private static func open(
    _ thread: Int32, _ distance: Duration, _ pages: inout Int
  ) throws(Errno) -> PerfEvent {
    let attributes = PerfEventAttributes(.processorTime(nanoseconds: period(distance)), samples: layout)
    while true {
      do throws(Errno) {
        return try PerfEvent.reachingIntoKernel(attributes, thread: thread, dataPages: pages)
      } catch {
        guard error.meansNotAllowed, pages > leastPages else { throw error }
        pages /= 2
      }
    }
  }

  package mutating func setDistance(_ wanted: Duration) {
    let distance = max(wanted, leastDistance)
    guard distance != self.distance, (try? event.setPeriod(nanoseconds: Self.period(distance))) != nil else {
      return
    }
    self.distance = distance
  }

  private static func take(
    from event: borrowing PerfEvent, _ position: inout UInt64, _ buffer: inout [UInt8]
  ) -> Int {
    unsafe buffer.withUnsafeMutableBytes { unsafe event.take(from: &position, into: $0) }
  }

  /// What came since the last call.
  package mutating func take() -> SampleBatch {
    var batch = SampleBatch()
    let count = Self.take(from: event, &position, &buffer)
    let data = unsafe buffer.span.bytes.extracting(first: count)
    var place = 0
    while let record = PerfRecord.next(in: data, at: &place, event.samples) {
      switch record {
      case .sample(let sample): batch.add(sample, data)
      case .lost(let count): batch.lost += Int(clamping: count)
      case .gap: batch.lost += 1
      case .other: break
      }
    }
    return batch
  }
}

extension SampleBatch {
  /// A thread on its way out has no registers.
  fileprivate mutating func add(_ sample: PerfSample, _ data: RawSpan) {
    let registers = Registers(sample.registers)
    guard registers[Registers.stackPointer] != nil else {
      lost += 1
      return
    }
    let new = StackSample(
      at: Instant(nanoseconds: sample.atNanoseconds), registers: registers,
      stack: unsafe data.extracting(sample.stack).withUnsafeBytes { unsafe Array($0) },
      kernelAddresses: sample.kernelAddresses)
    if let last = samples.last, last.isSame(as: new) {
      samples[samples.count - 1].count += 1
    } else {
      samples.append(new)
    }
  }
}
