// A capture as it came from the helper: cheap to hand on, turned into a snapshot by whoever has time.

package import Linux
package import StallCore

package final class RawCapture: Sendable {
  package let threadID: Int32
  package let way: CaptureWay
  package let registers: Registers
  package let stoppedFor: Duration
  package let takenAt: Instant
  /// What the thread did in the kernel, in the kernel's words; empty where that is not known.
  package let kernelStack: [UInt8]
  /// The same of one that was on a CPU; see `PerfSample`.
  package let kernelAddresses: [UInt64]
  let layout: StackLayout
  /// Of one thread, or of several.
  private let stack: SealedBytes?
  let offsetInStack: Int

  init(threadID: Int32, reply: CaptureReply, stack: SealedBytes?, at offset: Int = 0) {
    self.threadID = threadID
    way = reply.way
    registers = reply.registers
    stoppedFor = .nanoseconds(reply.stoppedNanoseconds)
    takenAt = Instant(nanoseconds: reply.takenAtNanoseconds)
    (kernelStack, kernelAddresses) = (reply.kernelStack, reply.kernelAddresses)
    layout = reply.stack
    self.stack = stack
    offsetInStack = offset
  }

  package var stackByteCount: Int { layout.count }

  /// The stack bytes, for another process; nil if there are none.
  package var rawStackDescriptor: Int32? { stack?.rawDescriptor }

  /// Its stack bytes lie in the same file.
  package func sharesStack(with other: RawCapture) -> Bool { stack === other.stack }

  /// Reads the stack bytes; they may be none.
  package func snapshot() throws(Errno) -> ThreadSnapshot {
    let bytes = try stack?.bytes(from: offsetInStack, limit: min(layout.count, CopyBuffer.capacity)) ?? []
    return ThreadSnapshot(
      threadID: threadID, way: way, registers: registers, pieces: layout.pieces(of: bytes),
      stoppedFor: stoppedFor, takenAt: takenAt)
  }
}
