// The few ptrace requests that reading a thread needs, and what a wait for its stop can bring.

internal import CLinux
internal import Glibc

/// Why a seized thread stopped first, as ptrace(2) tells the stops apart ("Stopped states").
package enum ThreadStop: Hashable, Sendable {
  /// PTRACE_EVENT_STOP that answers our own PTRACE_INTERRUPT.
  case interrupt
  /// PTRACE_EVENT_STOP of a thread that takes part in a job-control stop.
  case group
  /// A signal is about to be delivered; the thread must be let go *with* it.
  case signal(Int32)
  /// The thread ended before it stopped.
  case ended
}

/// `struct user_regs_struct` of x86-64 (<sys/user.h>): 27 words in the order in which the kernel fills them.
package struct KernelRegisters: Sendable {
  private var words = InlineArray<27, UInt64>(repeating: 0)

  /// Positions of the words that this project uses.
  package enum Word: Int {
    case r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi, originalRax, rip
    case rsp = 19
  }

  package subscript(word: Word) -> UInt64 { words[word.rawValue] }

  fileprivate init() {}

  /// The first 21 words are those of `struct pt_regs` (arch/x86/include/asm/ptrace.h), which lacks what stands behind them.
  init(userPart: RawSpan) {
    for position in 0..<min(words.count, userPart.byteCount / 8) {
      words[position] = unsafe userPart.unsafeLoadUnaligned(fromByteOffset: position * 8, as: UInt64.self)
    }
  }

  fileprivate mutating func fill(from threadID: Int32) throws(Errno) {
    let count = try systemCall { () -> Int in
      var span = words.mutableSpan
      return unsafe span.withUnsafeMutableBufferPointer {
        unsafe clinux_ptrace_registers(threadID, $0.baseAddress, $0.count * 8)
      }
    }
    // A 32-bit thread has 17 words of four bytes.
    if count != 27 * 8 { throw .notSupported }
  }
}

/// All requests go to a thread, and must come from the OS thread that seized it.
package enum Ptrace {
  /// Becomes the tracer without stopping the thread; the kernel lets it go when the tracer dies.
  package static func seize(_ threadID: Int32) throws(Errno) {
    _ = try systemCall { clinux_ptrace_seize(threadID) }
  }

  package static func interrupt(_ threadID: Int32) throws(Errno) {
    _ = try systemCall { clinux_ptrace_interrupt(threadID) }
  }

  /// Lets a *stopped* thread go on, with the signal that it was about to get (0: none).
  package static func detach(_ threadID: Int32, signal: Int32) throws(Errno) {
    _ = try systemCall { clinux_ptrace_detach(threadID, signal) }
  }

  package static func registers(of threadID: Int32) throws(Errno) -> KernelRegisters {
    var registers = KernelRegisters()
    try registers.fill(from: threadID)
    return registers
  }

  package static func writeRax(_ value: UInt64, of threadID: Int32) throws(Errno) {
    _ = try systemCall { clinux_ptrace_write_rax(threadID, value) }
  }

  /// A stop comes within some 12 µs if the thread is on another CPU. Whoever sleeps until then is woken late where
  /// somebody else has its CPU by now, and the thread stands still so much longer. If it comes later, the thread may need
  /// the CPU that we are on.
  private static let timeToBeQuick: Int64 = 20_000

  /// Waits, without limit, until the thread stops or ends. `needsOurProcessor`: it will not before we sleep.
  package static func waitForStop(
    _ threadID: Int32, needsOurProcessor: Bool = false
  ) throws(Errno) -> ThreadStop {
    var status: Int32 = 0
    let end = needsOurProcessor ? 0 : Clock.monotonicNanoseconds &+ timeToBeQuick
    var found: Int32 = 0
    while found == 0, Clock.monotonicNanoseconds < end {
      found = try systemCall { unsafe clinux_wait(threadID, &status, false) }
    }
    if found == 0 { _ = try systemCall { unsafe clinux_wait(threadID, &status, true) } }
    let decoded = clinux_decode_status(status)
    guard decoded.stopped else { return .ended }
    // PTRACE_EVENT_STOP (128, <linux/ptrace.h>); no options are set, so there is no other event.
    guard decoded.ptrace_event == 128 else { return .signal(decoded.stop_signal) }
    return decoded.stop_signal == SIGTRAP ? .interrupt : .group
  }

  /// True if the calling process still holds a thread. Those that ended while it held them are waited for here.
  package static func holdsSomebody() -> Bool {
    while true {
      var status: Int32 = 0
      guard let found = try? systemCall({ unsafe clinux_wait(-1, &status, false) }) else { return false }
      if found == 0 || clinux_decode_status(status).stopped { return true }
    }
  }
}
