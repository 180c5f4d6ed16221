// The kernel's part of a stack, from the text in which the kernel gives it.

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
}
