// The exact way that stops nobody: registers from the task iterator, the stack from memory, and proof that both are of one
// moment.

internal import Linux
internal import StallCore

enum IteratorCapture {
  /// All of a deep stack, since nobody waits for it. Nothing is done to the thread, so whatever it is blocked in, whoever
  /// traces or has frozen it, this does no harm.
  ///
  /// A thread cannot run without being counted first. One whose count is still what it was when it was off the CPU has been
  /// off it ever since, and what was read meanwhile is of that one moment; else this fails with `moved`. With `refused` it
  /// fails where the stack pointer leads nowhere: another way may reach more.
  static func take(
    _ blocked: BlockedRegisters, buffer: borrowing CopyBuffer, limit: Int, isWhole: Bool = false
  ) throws(CaptureFailure) -> CapturedThread {
    let takenAt = Clock.monotonicNanoseconds
    let threadID = blocked.threadID
    let memory = ProcessMemory(ofThread: threadID)
    var stack = StackCopy(
      from: blocked.registers.stackPointer, memory: memory, buffer: buffer, limit: limit)
    if stack.isCut(at: limit), !isWhole {
      stack.addRest(ofThread: threadID, memory: memory, buffer: buffer, isLater: false)
    }
    let now = try ThreadLook(processID: threadID, threadID: threadID).schedulerStatistics()
    guard blocked.hasNotMoved(until: now) else { throw .moved }
    guard stack.layout.count > 0 else { throw .refused(.badAddress) }
    return CapturedThread(
      way: .taskIterator, registers: blocked.registers, stack: stack, stoppedNanoseconds: 0,
      takenAtNanoseconds: takenAt)
  }
}
