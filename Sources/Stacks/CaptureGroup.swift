// Several threads of a process in one question to the helper: what is asked of each, and the answers.

package import Linux
internal import StallCore

/// One of the threads that are asked for together.
package struct GroupMember: Equatable, Sendable {
  package var threadID: Int32
  /// As in `CaptureRules`.
  package var isParked: Bool
  /// If whoever asks could read them. Such a thread is copied by these or not at all.
  package var blocked: BlockedRegisters?
  /// Where the stack of another thread begins, above its own. The stacks of many threads can lie in one mapping.
  package var nextStack: UInt64?

  package init(
    threadID: Int32, isParked: Bool = false, blocked: BlockedRegisters? = nil, nextStack: UInt64? = nil
  ) {
    self.threadID = threadID
    self.isParked = isParked
    self.blocked = blocked
    self.nextStack = nextStack
  }

  /// How much there is of its stack at most; nil: as much as there is.
  fileprivate var mostStackBytes: Int? {
    guard let stackPointer = blocked?.registers.stackPointer, let nextStack, nextStack > stackPointer
    else { return nil }
    return Int(exactly: nextStack - stackPointer)
  }
}

/// Threads that were copied together.
package struct CapturedGroup {
  /// In the order in which they were asked for.
  package let results: [Result<RawCapture, CaptureFailure>]
  /// The list of mappings that was read last, if it has not changed since; nil: it must be read, or nobody asked.
  package let maps: SealedBytes?
}

extension CaptureHelper {
  /// What one answer has room for.
  package static let mostTogether = CaptureRequest.mostMemoryBytes / CaptureReply.headerSize

  /// Copies threads that nobody need be held for, at most `mostTogether`; their stack bytes share one file. A failure that
  /// is passing says no more than that the thread must be asked for alone. `asksForMaps`: whether the list of mappings that
  /// was read last is still right, too.
  package mutating func capture(
    processID: Int32, together members: [GroupMember], rules: CaptureRules,
    asksForMaps: Bool = false, stackBytes: Int = usualStackBytes, deadline: Duration = .milliseconds(20)
  ) throws(CaptureFailure) -> CapturedGroup {
    var request = CaptureRequest(kind: .threads, processID: processID, threadID: processID)
    request.rules = rules
    request.count = stackBytes
    request.patience = deadline.nanoseconds
    request.members = members
    request.knownMaps = asksForMaps ? mapsKnown(of: processID)?.question : nil
    let answer = try ask(request, deadline)
    guard let replies = answer.reply.replies(count: members.count) else { throw .malformedReply }
    let stacks = answer.file.map(SealedBytes.init)
    var offset = 0
    let results = zip(members, replies).map { member, reply -> Result<RawCapture, CaptureFailure> in
      if let failure = reply.failure { return .failure(failure) }
      defer { offset += reply.stack.count }
      return .success(RawCapture(threadID: member.threadID, reply: reply, stack: stacks, at: offset))
    }
    return CapturedGroup(results: results, maps: maps(knownBy: answer.reply, of: processID))
  }
}

extension CaptureRequest {
  /// A thread that needs more than this of the time is asked for alone.
  private static let mostShare: Int64 = 8

  /// Whom a group question asks for; nil for nonsense.
  package var members: [GroupMember]? {
    get {
      var reader = MessageReader(bytes)
      let members = try? reader.list { (reader) throws(MessageReader.Malformed) in
        try GroupMember(decoding: &reader)
      }
      guard let members, reader.isAtEnd, members.count <= CaptureHelper.mostTogether else { return nil }
      return members
    }
    set {
      var writer = MessageWriter()
      writer.append(newValue?.count ?? 0)
      for member in newValue ?? [] { member.encode(into: &writer) }
      bytes = writer.bytes
    }
  }

  /// What a question for this one alone would be, but for its registers.
  func request(for member: GroupMember) -> CaptureRequest {
    var request = CaptureRequest(kind: .thread, processID: processID, threadID: member.threadID)
    request.id = id
    request.rules = rules
    request.rules.isParked = member.isParked
    request.count = min(count, member.mostStackBytes ?? count)
    request.isWhole = request.count < count
    request.patience = patience / Self.mostShare
    return request
  }
}

extension CaptureReply {
  /// The answers to a group question, in its order; nil for what a sound helper would not send.
  fileprivate func replies(count: Int) -> [CaptureReply]? {
    guard bytes.count == count * CaptureReply.headerSize else { return nil }
    let replies = (0..<count).compactMap { index in
      let start = index * CaptureReply.headerSize
      return CaptureReply(decoding: Array(bytes[start..<start + CaptureReply.headerSize]))
    }
    return replies.count == count ? replies : nil
  }

  mutating func tell(of captured: CapturedThread) {
    way = captured.way
    registers = captured.registers
    stack = captured.stack.layout
    stoppedNanoseconds = captured.stoppedNanoseconds
    takenAtNanoseconds = captured.takenAtNanoseconds
  }
}

extension GroupMember {
  fileprivate func encode(into writer: inout MessageWriter) {
    writer.append(Int64(threadID))
    writer.append(isParked)
    writer.append(optional: blocked) { $0.append($1.encoded) }
    writer.append(optional: nextStack) { $0.append($1) }
  }

  fileprivate init(decoding reader: inout MessageReader) throws(MessageReader.Malformed) {
    threadID = Int32(truncatingIfNeeded: try reader.number())
    isParked = try reader.flag()
    let bytes = try reader.optional { (reader) throws(MessageReader.Malformed) in try reader.string() }
    nextStack = try reader.optional { (reader) throws(MessageReader.Malformed) in try reader.word() }
    if let bytes { blocked = try BlockedRegisters(decoding: bytes, threadID: threadID) }
  }
}
