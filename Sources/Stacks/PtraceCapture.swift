// The exact way: stop the thread for some tens of microseconds and copy registers and stack.

internal import Linux
internal import StallCore

enum PtraceCapture {
  static func take(
    _ threadID: Int32, buffer: borrowing CopyBuffer, limit: Int
  ) throws(CaptureFailure) -> CapturedThread {
    do {
      let thread = try StoppedThread(threadID)
      let takenAt = thread.interruptedAt
      let kernelRegisters = try thread.registers()
      let memory = ProcessMemory(ofThread: threadID, isStoppedByUs: true)
      let stack = StackCopy(from: kernelRegisters[.rsp], memory: memory, buffer: buffer, limit: limit)
      let stopped = thread.release(kernelRegisters)
      return CapturedThread(
        way: .ptrace, registers: Registers(kernelRegisters), stack: stack, stoppedNanoseconds: stopped,
        takenAtNanoseconds: takenAt)
    } catch {
      throw error == .notSupported ? .thirtyTwoBit : CaptureFailure(error)
    }
  }
}

extension Registers {
  /// In the order of the DWARF numbers.
  private static let kernelWords: [KernelRegisters.Word] = [
    .rax, .rdx, .rcx, .rbx, .rsi, .rdi, .rbp, .rsp, .r8, .r9, .r10, .r11, .r12, .r13, .r14, .r15, .rip,
  ]

  init(_ kernel: KernelRegisters) {
    self.init()
    for (number, word) in Registers.kernelWords.enumerated() { self[number] = kernel[word] }
  }
}
