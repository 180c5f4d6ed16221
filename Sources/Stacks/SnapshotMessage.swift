// A copied thread in a message between two of our processes. The stack bytes travel beside it, unread.

package import Linux
internal import StallCore

extension RawCapture {
  /// What `ThreadSnapshot(decoding:stack:)` reads.
  package func encode(into writer: inout MessageWriter) {
    writer.append(UInt64(UInt32(bitPattern: threadID)))
    writer.append(layout.topAddress)
    writer.append(layout.topCount)
    writer.append(layout.interruptedAddress)
    writer.append(layout.interruptedCount)
    writer.append(layout.restCount)
    writer.append(layout.isRestLater)
    writer.append(layout.isInterruptedLater)
    writer.append(offsetInStack)
    registers.encode(into: &writer)
  }
}

extension Registers {
  func encode(into writer: inout MessageWriter) {
    writer.append(UInt64(known))
    for number in 0..<Registers.count { writer.append(self[number] ?? 0) }
  }

  init(decoding reader: inout MessageReader) throws(MessageReader.Malformed) {
    self.init()
    let known = try reader.word()
    for number in 0..<Registers.count {
      let value = try reader.word()
      if known & 1 << UInt64(number) != 0 { self[number] = value }
    }
  }
}

extension ThreadSnapshot {
  /// `stack`: the file that came beside the message, if any; others' stack bytes may be in it as well.
  package init(decoding reader: inout MessageReader, stack: SharedFile?) throws(MessageReader.Malformed) {
    let threadID = Int32(truncatingIfNeeded: try reader.word())
    let most = 0...CopyBuffer.capacity
    var layout = StackLayout(topAddress: try reader.word(), topCount: try reader.integer(in: most))
    layout.interruptedAddress = try reader.word()
    layout.interruptedCount = try reader.integer(in: most)
    layout.restCount = try reader.integer(in: most)
    layout.isRestLater = try reader.flag()
    layout.isInterruptedLater = try reader.flag()
    let offset = try reader.integer(in: 0...Int(Int32.max))
    let registers = try Registers(decoding: &reader)
    let count = min(layout.count, CopyBuffer.capacity)
    let bytes = stack.flatMap { try? SealedBytes($0).bytes(from: offset, limit: count) }
    self.init(
      threadID: threadID, way: .ptrace, registers: registers, pieces: layout.pieces(of: bytes ?? []),
      stoppedFor: .zero, takenAt: Instant(nanoseconds: 0))
  }
}
