// The kernel's part of a stack, from the text in which the kernel gives it, and from addresses.

import StallCore
import Testing

@Suite struct KernelFrameTests {
  @Test func namesOffsetsAndModules() {
    let text = """
      [<0>] ep_poll+0x3a1/0x3d0
      [<0>] nfs_wait_bit_killable.isra.0+0x11/0x60 [nfs]
      [<0>] helper+0x1/0x2 [module 0011ff]
      [<0>] 0xffffffff81000042

      """
    #expect(
      KernelFrame.frames(of: Array(text.utf8)) == [
        KernelFrame(symbol: "ep_poll", symbolOffset: 0x3a1),
        KernelFrame(symbol: "nfs_wait_bit_killable.isra.0", symbolOffset: 0x11, module: "nfs"),
        KernelFrame(symbol: "helper", symbolOffset: 1, module: "module"),
        KernelFrame(symbol: "0xffffffff81000042", symbolOffset: 0),
      ])
  }

  @Test(arguments: ["", "\n\n", "[<0>]", "[<0>] ", "ep_poll+0x3a1/0x3d0", "a b c", "[<0>] +"])
  func otherLinesAreLeftOut(_ text: String) { #expect(KernelFrame.frames(of: Array(text.utf8)) == []) }

  /// Each of these functions is 16 bytes long; there is none at 0x50.
  private static let functions: [(name: ByteString, module: ByteString?)] = [
    ("clear_user", nil), ("read_zero", nil), ("vfs_read", nil), ("asm_sysvec_apic_timer_interrupt", nil),
    ("asm_exc_page_fault", nil), ("", nil), ("helper", "module"),
  ]

  private func frames(_ chain: UInt64...) -> [String] {
    KernelFrame.frames(of: chain) { address in
      let function = Self.functions[Int(address / 16)]
      return function.name == ""
        ? nil : KernelFrame(symbol: function.name, symbolOffset: address % 16, module: function.module)
    }.map { "\($0.symbol.escaped)+\($0.symbolOffset)" + ($0.module.map { " \($0.escaped)" } ?? "") }
  }

  @Test func addressesBecomeFrames() {
    #expect(
      frames(0x03, 0x14, 0x25, 0x66) == ["clear_user+3", "read_zero+4", "vfs_read+5", "helper+6 module"])
    #expect(frames() == [])
  }

  @Test func returnAddressBehindTheEndBelongsToTheCaller() {
    #expect(frames(0x10) == ["read_zero+0"])
    #expect(frames(0x03, 0x20) == ["clear_user+3", "read_zero+16"])
  }

  @Test func whatLiesInNoFunctionIsLeftOut() {
    #expect(frames(0x03, 0x55, 0x25) == ["clear_user+3", "vfs_read+5"])
  }

  @Test("an interrupt is not what the thread does, an exception is")
  func interrupts() {
    #expect(frames(0x03, 0x35) == [])
    #expect(frames(0x03, 0x14, 0x35, 0x25) == ["vfs_read+5"])
    #expect(frames(0x03, 0x45, 0x25).count == 3)
  }
}
