// The few x86-64 instructions that tell what kind of address one is looking at.

package enum Instructions {
  /// The longest call: FF /2 with a SIB byte and a 32-bit displacement.
  package static let longestCall = 7

  /// Whether these bytes, which precede an address, end in a call, so that the address can be a return address.
  /// Intel SDM volume 2, CALL: E8 with a 32-bit distance, or FF /2 with ModRM.
  package static func endInCall(_ bytes: [UInt8]) -> Bool {
    if bytes.count >= 5, bytes[bytes.count - 5] == 0xE8 { return true }
    return (2...longestCall).contains { length in
      guard bytes.count >= length else { return false }
      let call = bytes.suffix(length)
      return call.first == 0xFF && indirectCallLength(call.dropFirst()) == length
    }
  }

  /// Length of FF /2 by the bytes after FF; nil if it is not /2 (Intel SDM volume 2, tables 2-2 and 2-3).
  private static func indirectCallLength(_ operand: ArraySlice<UInt8>) -> Int? {
    guard let modRM = operand.first, modRM >> 3 & 7 == 2 else { return nil }
    let mode = modRM >> 6
    let hasSIB = mode != 3 && modRM & 7 == 4
    let sibBase = hasSIB ? operand.dropFirst().first.map { $0 & 7 } : nil
    let displacement =
      switch mode {
      case 0: modRM & 7 == 5 || sibBase == 5 ? 4 : 0
      case 1: 1
      case 2: 4
      default: 0
      }
    return 2 + (hasSIB ? 1 : 0) + displacement
  }

  package static let `return`: UInt8 = 0xC3

  /// `mov $15, %rax; syscall`: what a signal handler returns to (rt_sigreturn; `__restore_rt` in glibc and musl).
  package static let signalReturn: [UInt8] = [0x48, 0xC7, 0xC0, 0x0F, 0x00, 0x00, 0x00, 0x0F, 0x05]
}
