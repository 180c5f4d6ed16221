// What the kernel does for a blocked thread: the inner part of its stack, in the kernel's own words.

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

  /// Innermost first, from the text of `/proc/PID/task/TID/stack` (fs/proc/base.c, `proc_pid_stack`). Lines that read
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
