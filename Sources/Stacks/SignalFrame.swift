// The frame that the kernel makes for a signal handler: where it keeps what it interrupted.

/// `struct rt_sigframe` (arch/x86/include/asm/sigframe.h): the handler's return address, a `ucontext` (flags, link,
/// `stack_t`, `struct sigcontext`; arch/x86/include/uapi/asm), and more. Offsets are from its first byte.
package enum SignalFrame {
  private static let flags = 8
  private static let link = 16
  private static let alternateStack = 24
  private static let alternateStackSize = 40
  static let registers = 48
  /// The words from there on, r8–r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, by DWARF number.
  static let registerNumbers = [8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16]
  private static let stackPointer = registers + 15 * 8
  private static let size = registers + 17 * 8

  /// The interrupted stack pointer, if copied bytes hold a signal frame on an alternate stack (sigaltstack(2)) that
  /// interrupted another one.
  ///
  /// Told by what the frame says of the alternate stack: that it contains the frame itself. The kernel puts frames 8
  /// bytes below a multiple of 16 (`get_sigframe`, arch/x86/kernel/signal.c). At most a word of ours is wrong then: a
  /// walk that does not come by never looks at what was copied from there.
  package static func otherStackPointer(in bytes: UnsafeRawBufferPointer, at address: UInt64) -> UInt64? {
    var offset = Int((8 &- address) & 15)
    let count = bytes.count
    while offset + size <= count {
      if let found = unsafe otherStackPointer(in: bytes, frame: offset, at: address) { return found }
      offset += 16
    }
    return nil
  }

  private static func otherStackPointer(
    in bytes: UnsafeRawBufferPointer, frame: Int, at address: UInt64
  ) -> UInt64? {
    func word(_ offset: Int) -> UInt64 {
      unsafe bytes.loadUnaligned(fromByteOffset: frame + offset, as: UInt64.self)
    }
    // UC_FP_XSTATE, UC_SIGCONTEXT_SS, UC_STRICT_RESTORE_SS; the kernel always writes 0 as the link.
    guard word(flags) <= 7, word(link) == 0 else { return nil }
    let stack = word(alternateStack), stackSize = word(alternateStackSize)
    let interrupted = word(stackPointer)
    guard address &+ UInt64(frame) &- stack < stackSize, interrupted &- stack >= stackSize else { return nil }
    return interrupted
  }
}
