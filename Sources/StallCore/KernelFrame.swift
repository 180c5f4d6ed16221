// What the kernel does for a thread: the inner part of its stack.

/// A function of the kernel or of one of its modules.
package struct KernelFrame: Hashable, Sendable {
  package var symbol: ByteString
  /// Bytes from the symbol's start.
  package var symbolOffset: UInt64
  package var module: ByteString?

  package init(symbol: ByteString, symbolOffset: UInt64, module: ByteString? = nil) {
    self.symbol = symbol
    self.symbolOffset = symbolOffset
    self.module = module
  }

  /// Innermost first, of a blocked thread, from the text of `/proc/PID/task/TID/stack` (fs/proc/base.c, `proc_pid_stack`). Lines that read
  /// otherwise are left out.
  package static func frames(of text: [UInt8]) -> [KernelFrame] {
    text.split(separator: UInt8(ascii: "\n")).compactMap { KernelFrame(line: $0) }
  }

  /// `[<0>] ep_poll+0x3a1/0x3d0 [module]`; an address in place of the name where the kernel knows none.
  private init?(line: ArraySlice<UInt8>) {
    let words = line.split(separator: UInt8(ascii: " "))
    guard words.count > 1, words[0].first == UInt8(ascii: "[") else { return nil }
    let parts = words[1].split(separator: UInt8(ascii: "+"), maxSplits: 1)
    guard let name = parts.first else { return nil }
    symbol = ByteString(name)
    let offset = parts.count > 1 ? parts[1].prefix { $0 != UInt8(ascii: "/") }.dropFirst(2) : []
    symbolOffset = UInt64(String(decoding: offset, as: UTF8.self), radix: 16) ?? 0
    guard words.count > 2, words[2].first == UInt8(ascii: "[") else { return }
    module = ByteString(words[2].dropFirst().prefix { $0 != UInt8(ascii: "]") })
  }
}

extension KernelFrame {
  /// Innermost first, of a running thread. `chain`: where it was, and for each caller where that is returned to. `function`: the
  /// one that an address lies in, with the offset there. What lies in none is left out.
  package static func frames(
    of chain: [UInt64], function: (UInt64) -> KernelFrame?
  ) -> [KernelFrame] {
    let frames = chain.enumerated().compactMap { index, address in
      if index == 0 { return function(address) }
      // A call at the end of a function returns to the beginning of the next one.
      var caller = function(address &- 1)
      caller?.symbolOffset += 1
      return caller
    }
    // What a thread does itself. If it was interrupted in its own code, that is nothing.
    guard let interrupt = frames.lastIndex(where: \.isInterruptEntry) else { return frames }
    return Array(frames[(interrupt + 1)...])
  }

  /// The functions by which interrupts come in (arch/x86/entry, from 5.4 on). An exception, such as a page fault, belongs to
  /// the thread.
  private static let interruptEntries: [ByteString] = [
    "asm_sysvec_", "asm_common_interrupt", "asm_spurious_interrupt", "fred_extint", "apic_timer_interrupt",
    "ret_from_intr",
  ]

  private var isInterruptEntry: Bool {
    module == nil && Self.interruptEntries.contains { symbol.bytes.starts(with: $0.bytes) }
  }
}

/// What a thread did in the kernel at one moment, innermost first.
package enum KernelPart: Hashable, Sendable {
  /// None where it did nothing there, or where that is not known.
  case frames([KernelFrame])
  /// Of a running thread: see `KernelFrame.frames(of:function:)`.
  case addresses([UInt64])

  package var isEmpty: Bool {
    switch self {
    case .frames(let frames): frames.isEmpty
    case .addresses(let addresses): addresses.isEmpty
    }
  }

  package var frames: [KernelFrame] { if case .frames(let frames) = self { frames } else { [] } }
  package var addresses: [UInt64] { if case .addresses(let addresses) = self { addresses } else { [] } }
}
