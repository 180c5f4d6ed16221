// A thread held still by us, which runs again when its value goes away.

internal import Linux

/// Seizes and interrupts a thread; its end lets the thread go, whatever happens in between. Only bytes are copied in
/// the meantime: no file is read, nothing is allocated, no other thread is held.
///
/// The wait for the stop has no limit. Whoever uses this is a process that can be killed, and the kernel lets its
/// tracees go: a thread that cannot stop can not be let go in any other way (DETACH answers ESRCH).
struct StoppedThread: ~Copyable {
  let threadID: Int32
  let interruptedAt: Int64
  private let stop: ThreadStop

  init(_ threadID: Int32, needsOurProcessor: Bool = false) throws(Errno) {
    try Ptrace.seize(threadID)
    let start = Clock.monotonicNanoseconds
    try Ptrace.interrupt(threadID)
    let stop = try Ptrace.waitForStop(threadID, needsOurProcessor: needsOurProcessor)
    if stop == .ended { throw .noSuchProcess }
    self.threadID = threadID
    self.interruptedAt = start
    self.stop = stop
  }

  deinit { StoppedThread.letGo(threadID, stop) }

  func registers() throws(Errno) -> KernelRegisters { try Ptrace.registers(of: threadID) }

  /// Lets the thread run and tells how long it stood still, at most, in nanoseconds.
  consuming func release(_ registers: KernelRegisters) -> Int64 {
    undoInterruption(registers)
    let threadID = self.threadID, stop = self.stop, start = interruptedAt
    discard self
    StoppedThread.letGo(threadID, stop)
    return Clock.monotonicNanoseconds &- start
  }

  /// Nobody's signal is lost: a stop that came before ours because of one goes on with it. A thread in a job-control
  /// stop stays stopped by itself.
  private static func letGo(_ threadID: Int32, _ stop: ThreadStop) {
    if case .signal(let number) = stop {
      try? Ptrace.detach(threadID, signal: number)
    } else {
      try? Ptrace.detach(threadID, signal: 0)
    }
  }

  /// The one place that writes to the target: takes back what our stop did to a system call that it hit.
  ///
  /// A thread that runs when we look can block before the stop lands. Some calls then answer −EINTR
  /// (`CapturePolicy.mayStartAgain`), which the program would see although no signal came. −ERESTARTNOHAND in its
  /// place tells the kernel to start the call again unless a handler runs (arch/x86/kernel/signal.c,
  /// `arch_do_signal_or_restart` and `handle_signal`; include/linux/errno.h). So where a real signal came as well,
  /// before or after us, the program still sees its EINTR. A relative timeout starts anew.
  ///
  /// The same holds at the stop before a signal: while we trace, even signals that the program ignores interrupt it.
  /// A job-control stop is no work of ours and is left as it is.
  private borrowing func undoInterruption(_ registers: KernelRegisters) {
    let minusEINTR = UInt64(bitPattern: -4)
    let minusERESTARTNOHAND = UInt64(bitPattern: -514)
    guard stop != .group, registers[.rax] == minusEINTR,
      let number = Int(exactly: registers[.originalRax]), CapturePolicy.mayStartAgain(number)
    else { return }
    try? Ptrace.writeRax(minusERESTARTNOHAND, of: threadID)
  }
}
