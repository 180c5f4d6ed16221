// A copied thread in a message between two of our processes. The stack bytes travel beside it, unread.

package import Linux
internal import StallCore

extension RawCapture {
  /// What `ThreadSnapshot(decoding:stack:)` reads.
  package func encode(into writer: inout MessageWriter) {
    writer.append(UInt64(UInt32(bitPattern: threadID)))
    writer.append(stackAddress)
    for number in 0..<Registers.count { writer.append(optional: registers[number]) { $0.append($1) } }
  }
}

extension ThreadSnapshot {
  /// `stack`: the file that came beside the message, if any.
  package init(decoding reader: inout MessageReader, stack: SharedFile?) throws(MessageReader.Malformed) {
    let threadID = Int32(truncatingIfNeeded: try reader.word())
    let stackAddress = try reader.word()
    var registers = Registers()
    for number in 0..<Registers.count {
      registers[number] = try reader.optional { (reader) throws(MessageReader.Malformed) in try reader.word()
      }
    }
    let bytes = stack.flatMap { try? SealedBytes($0).bytes(limit: CopyBuffer.capacity) }
    self.init(
      threadID: threadID, way: .ptrace, registers: registers, stackAddress: stackAddress,
      stackBytes: bytes ?? [],
      stoppedFor: .zero, takenAt: Instant(nanoseconds: 0))
  }
}
