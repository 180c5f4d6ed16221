// What the helper process is asked about the wake-up of a loop: raising it, and whether it was taken.

package import Linux

extension CaptureHelper {
  private static let deadline = Duration.milliseconds(20)

  /// Nil: the answer was none; then it is not known whether it was raised.
  package mutating func raiseWakeUp(
    of process: Int32, waitingOn place: WakeUpPlace
  ) throws(CaptureFailure) -> Result<WakeUpCounter, WakeUpRefusal>? {
    var writer = MessageWriter()
    switch place {
    case .epoll(let descriptor): writer.append(Int(descriptor))
    case .set(let descriptors):
      writer.append(-1)
      writer.append(descriptors.count)
      for descriptor in descriptors { writer.append(Int(descriptor)) }
    }
    var request = CaptureRequest(kind: .raiseWakeUp, processID: process, threadID: process)
    request.bytes = writer.bytes
    var reader = MessageReader(try ask(request, Self.deadline).reply.bytes)
    guard let isRaised = try? reader.flag(), let first = try? reader.word(), let second = try? reader.number()
    else { return nil }
    if isRaised {
      return .success(WakeUpCounter(descriptor: Int32(truncatingIfNeeded: second), id: first))
    }
    return WakeUpRefusal(kind: first, detail: second).map { .failure($0) }
  }

  /// Nil: it is not there any more.
  package mutating func isWakeUpTaken(
    _ counter: WakeUpCounter, of process: Int32
  ) throws(CaptureFailure) -> Bool? {
    var request = CaptureRequest(kind: .wakeUp, processID: process, threadID: process)
    request.address = counter.id
    request.count = Int(counter.descriptor)
    return try ask(request, Self.deadline).reply.bytes.first.map { $0 == 1 }
  }
}

extension CaptureRequest {
  /// In the helper.
  func raiseWakeUp() -> [UInt8] {
    guard let place = try? WakeUpPlace(decoding: bytes) else { return [] }
    var writer = MessageWriter()
    do throws(WakeUpRefusal) {
      let counter = try LoopWakeUp.raise(process: processID, waitingOn: place)
      writer.append(true)
      writer.append(counter.id)
      writer.append(Int(counter.descriptor))
    } catch {
      let (kind, detail) = error.words
      writer.append(false)
      writer.append(kind)
      writer.append(detail)
    }
    return writer.bytes
  }

  func isWakeUpTaken() -> [UInt8] {
    let counter = WakeUpCounter(descriptor: Int32(truncatingIfNeeded: count), id: address)
    return LoopWakeUp.isTaken(counter, process: processID).map { [$0 ? 1 : 0] } ?? []
  }
}

extension WakeUpPlace {
  fileprivate init(decoding bytes: [UInt8]) throws(MessageReader.Malformed) {
    var reader = MessageReader(bytes)
    let range = -1...Int(Int32.max)
    let epoll = try reader.integer(in: range)
    if epoll >= 0 {
      self = .epoll(Int32(epoll))
    } else {
      self = .set(
        try reader.list { (reader) throws(MessageReader.Malformed) in Int32(try reader.integer(in: range)) })
    }
  }
}
