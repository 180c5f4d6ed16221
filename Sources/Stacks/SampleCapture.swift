// A sample as a capture that can be unwound, its outer frames from an older copy of the same stack.

package import Linux
internal import StallCore

extension RawCapture {
  /// More of a stack is not worth the time: such a walk ends with what it has.
  private static let mostRestBytes = 1 << 18
  /// Where the sample ends, the copy must hold the same bytes: then the same frames are there, and further out as well.
  private static let overlap = 512

  /// `base`: a copy that was made before or after, of the whole stack.
  package convenience init(
    _ sample: StackSample, threadID: Int32, completedBy base: ThreadSnapshot?
  ) throws(Errno) {
    var reply = CaptureReply(id: 0)
    (reply.way, reply.registers) = (.perf, sample.registers)
    reply.takenAtNanoseconds = sample.at.nanoseconds
    reply.stack.topAddress = sample.registers.stackPointer
    reply.stack.topCount = sample.stack.count
    let rest = sample.isCut ? base.flatMap { Self.rest(of: sample, in: $0) } ?? [] : []
    reply.kernelAddresses = sample.kernelAddresses
    (reply.stack.restCount, reply.stack.isRestLater) = (rest.count, true)
    let bytes = sample.stack + rest
    let file = try unsafe bytes.isEmpty ? nil : SealedBytes.copy(bytes.span.bytes)
    self.init(threadID: threadID, reply: reply, stack: file.map(SealedBytes.init))
  }

  /// Nil where that copy shows another stack, or not this part of it.
  private static func rest(of sample: StackSample, in base: ThreadSnapshot) -> [UInt8]? {
    let end = sample.registers.stackPointer &+ UInt64(sample.stack.count)
    let known = base.bytes(from: end &- UInt64(overlap), most: overlap + mostRestBytes)
    guard known.count > overlap, known.prefix(overlap).elementsEqual(sample.stack.suffix(overlap)) else {
      return nil
    }
    return Array(known.dropFirst(overlap))
  }
}

extension ThreadSnapshot {
  /// The copied bytes from an address on, as far as they go on without a break.
  fileprivate func bytes(from address: UInt64, most: Int) -> [UInt8] {
    var (bytes, next) = ([UInt8](), address)
    for piece in [StackPiece(address: stackAddress, bytes: stackBytes)] + morePieces where bytes.count < most
    {
      let offset = next &- piece.address
      guard offset < UInt64(piece.bytes.count) else { continue }
      let part = piece.bytes[Int(offset)...].prefix(most - bytes.count)
      bytes += part
      next = next &+ UInt64(part.count)
    }
    return bytes
  }
}
