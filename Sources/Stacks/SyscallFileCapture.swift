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
      let moment = try BlockedMoment(look)
      guard let registers = moment.registers else { continue }
      let memory = ProcessMemory(ofThread: look.threadID)
      var stack = StackCopy(from: registers.stackPointer, memory: memory, buffer: buffer, limit: limit)
      if stack.isCut(at: limit) {
        stack.addRest(ofThread: look.threadID, memory: memory, buffer: buffer, isLater: false)
      }
      if try BlockedMoment(look) == moment {
        return CapturedThread(
          way: .syscallFile, registers: registers, stack: stack, stoppedNanoseconds: 0,
          takenAtNanoseconds: takenAt)
      }
    }
    throw .moved
  }
}
