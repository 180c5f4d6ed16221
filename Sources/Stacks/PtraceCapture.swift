// The exact way: stop the thread for some tens of microseconds and copy registers and stack.

internal import Linux
internal import StallCore

enum PtraceCapture {
  static func take(
    _ threadID: Int32, buffer: borrowing CopyBuffer, limit: Int
  ) throws(CaptureFailure) -> CapturedThread {
    let look = ThreadLook(processID: threadID, threadID: threadID)
    let needsOurProcessor = look.needsOurProcessor
    do {
      let thread = try StoppedThread(threadID, needsOurProcessor: needsOurProcessor)
      let takenAt = thread.interruptedAt
      let kernelRegisters = try thread.registers()
      let memory = ProcessMemory(ofThread: threadID, isStoppedByUs: true)
      let most = kernelRegisters.wereBlocked ? min(limit, mostOfABlockedThread) : limit
      var stack = StackCopy(from: kernelRegisters[.rsp], memory: memory, buffer: buffer, limit: most)
      let stopped = thread.release(kernelRegisters)
      let registers = Registers(kernelRegisters)
      if stack.isCut(at: most) {
        addRest(to: &stack, ofThread: threadID, kernelRegisters.wereBlocked ? registers : nil, buffer)
      }
      return CapturedThread(
        way: .ptrace, registers: registers, stack: stack, stoppedNanoseconds: stopped,
        takenAtNanoseconds: takenAt)
    } catch {
      switch error {
      case .notSupported: throw .thirtyTwoBit
      // It has executed a program and taken the id of the first thread.
      case .noChildProcess: throw .gone
      default: throw CaptureFailure(error)
      }
    }
  }

  /// 64 KB take 12 µs longer, copied and searched for signal frames. The rest of a blocked thread's stack can be proven to
  /// be of the same moment when it is copied later, that of a running one never.
  private static let mostOfABlockedThread = 16_384

  /// A deep stack is not copied whole while the thread stands still: 1 MB takes as long as all the rest of the stop.
  ///
  /// It is of the same moment if the thread was blocked, is blocked at the same place again, does not move while the
  /// rest is copied, and the top, copied once more, has not changed either: then all is of the second moment.
  private static func addRest(
    to stack: inout StackCopy, ofThread threadID: Int32, _ blockedAt: Registers?,
    _ buffer: borrowing CopyBuffer
  ) {
    let memory = ProcessMemory(ofThread: threadID)
    let look = ThreadLook(processID: threadID, threadID: threadID)
    let moment = blockedAt.flatMap { blockedAgain(look, at: $0) }
    stack.addRest(ofThread: threadID, memory: memory, buffer: buffer, isLater: true)
    guard let moment, stack.isTopUnchanged(memory: memory, buffer: buffer),
      (try? BlockedMoment(look)) == moment
    else { return }
    stack.restIsOfTheSameMoment()
  }

  /// Little of the time that the watch waits for a capture.
  private static let patience: Int64 = 2_000_000

  /// The thread needs a moment on a CPU to begin the interrupted call anew; on a busy machine it may get none in time.
  private static func blockedAgain(_ look: ThreadLook, at registers: Registers) -> BlockedMoment? {
    let end = Clock.monotonicNanoseconds &+ patience
    repeat {
      if let moment = try? BlockedMoment(look), let place = moment.registers {
        let isSame =
          place.stackPointer == registers.stackPointer && place.programCounter == registers.programCounter
        return isSame ? moment : nil
      }
      Clock.pause(nanoseconds: 50_000)
    } while Clock.monotonicNanoseconds < end
    return nil
  }
}

extension KernelRegisters {
  /// The stop interrupted a wait: −ERESTARTSYS to −ERESTART_RESTARTBLOCK (include/linux/errno.h) in a system call.
  fileprivate var wereBlocked: Bool {
    Int64(bitPattern: self[.originalRax]) >= 0 && (-516 ... -512).contains(Int64(bitPattern: self[.rax]))
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
