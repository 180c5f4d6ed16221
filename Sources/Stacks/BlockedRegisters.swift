// The registers of a thread that was off the CPU, and what tells whether it has been on one since.

package import Linux

/// What the task iterator showed of a thread that was off the CPU. As long as it stays off it, its registers are these and
/// its stack lies where they say.
package struct BlockedRegisters: Hashable, Sendable {
  package let threadID: Int32
  package let registers: Registers
  package let timesScheduled: UInt64
  /// With the count before it, this tells two threads apart that had the same id one after the other.
  package let runNanoseconds: UInt64

  package init(threadID: Int32, registers: Registers, timesScheduled: UInt64, runNanoseconds: UInt64) {
    self.threadID = threadID
    self.registers = registers
    self.timesScheduled = timesScheduled
    self.runNanoseconds = runNanoseconds
  }

  /// Nil if it was on a CPU or has ended, and where there is no 64-bit code of a program.
  package init?(_ sample: ThreadSample) {
    guard sample.isOffProcessor, !sample.hasEnded, !sample.isKernelThread, sample.isWide else { return nil }
    self.init(
      threadID: sample.threadID, registers: Registers(sample.registers),
      timesScheduled: sample.timesScheduled, runNanoseconds: sample.runNanoseconds)
  }

  /// It was not put on a CPU between the sample and this reading of its `schedstat`.
  func hasNotMoved(until later: SchedulerStatistics) -> Bool {
    later.timesScheduled == timesScheduled && later.runNanoseconds == runNanoseconds
  }
}

extension BlockedRegisters {
  /// Without the thread's id, which stands in the request.
  var encoded: [UInt8] {
    var writer = MessageWriter()
    writer.append(timesScheduled)
    writer.append(runNanoseconds)
    registers.encode(into: &writer)
    return writer.bytes
  }

  init(decoding bytes: [UInt8], threadID: Int32) throws(MessageReader.Malformed) {
    var reader = MessageReader(bytes)
    let (times, run) = (try reader.word(), try reader.word())
    let registers = try Registers(decoding: &reader)
    guard reader.isAtEnd else { throw MessageReader.Malformed() }
    self.init(threadID: threadID, registers: registers, timesScheduled: times, runNanoseconds: run)
  }
}

extension CaptureRequest {
  /// Of the thread, if whoever asks could read them. A thread is copied by these or not at all.
  package var blocked: BlockedRegisters? {
    get { kind == .thread ? try? BlockedRegisters(decoding: bytes, threadID: threadID) : nil }
    set { bytes = newValue?.encoded ?? [] }
  }
}
