// The way that stops nobody: stack pointer and pc of a blocked thread from `/proc`, and proof that it did not move.

internal import Linux
internal import StallCore

enum SyscallFileCapture {
  private static let attempts = 3

  /// Callee-saved registers stay unknown, so a walk that needs them ends early.
  static func take(
    _ look: ThreadLook, buffer: borrowing CopyBuffer, limit: Int
  ) throws(CaptureFailure) -> CapturedThread {
    for _ in 0..<attempts {
      let takenAt = Clock.monotonicNanoseconds
      let count = try look.timesScheduled()
      let record = try look.systemCall()
      guard let registers = registers(record) else { continue }
      let memory = ProcessMemory(ofThread: look.threadID)
      let stack = StackCopy(from: registers.stackPointer, memory: memory, buffer: buffer, limit: limit)
      // Off the CPU at the first look and not put on one since: it cannot have touched its stack.
      if try look.systemCall() == record, try look.timesScheduled() == count {
        return CapturedThread(
          way: .syscallFile, registers: registers, stack: stack, stoppedNanoseconds: 0,
          takenAtNanoseconds: takenAt)
      }
    }
    throw .moved
  }

  /// Nil for a running thread.
  private static func registers(_ record: SystemCallRecord) -> Registers? {
    switch record {
    case .running: nil
    case .outsideCall(let stackPointer, let programCounter): registers(stackPointer, programCounter)
    case .call(_, _, let stackPointer, let programCounter): registers(stackPointer, programCounter)
    }
  }

  private static func registers(_ stackPointer: UInt64, _ programCounter: UInt64) -> Registers {
    var registers = Registers()
    registers[Registers.stackPointer] = stackPointer
    registers[Registers.programCounter] = programCounter
    return registers
  }
}
