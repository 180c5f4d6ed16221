// The list of mappings that both ends of the helper's socket know: one that has not changed is not sent again.

package import Linux

/// What the helper has told, and still knows to the letter.
final class ToldMaps {
  /// Reading more, only to compare it, would take milliseconds, and the target's threads may wait for that.
  static let mostBytes = 1 << 18

  private var last: (process: Int32, question: UInt64, text: [UInt8])?

  /// Nothing is sent along if whoever asks has that text already.
  func answer(_ request: CaptureRequest, _ reply: inout CaptureReply) throws(CaptureFailure) -> SharedFile? {
    let text = try Self.read(request, limit: CaptureHelper.mostFileBytes)
    reply.areMapsAsKnown = self.text(knownTo: request)?.hasSameBytes(as: text) ?? false
    if reply.areMapsAsKnown { return nil }
    last = text.count <= Self.mostBytes ? (request.processID, request.id, text) : nil
    do { return try unsafe SealedBytes.copy(text.span.bytes) } catch { throw CaptureFailure(error) }
  }

  /// Whether the list is still what whoever asks has.
  func areAsKnown(to request: CaptureRequest) -> Bool {
    guard let known = text(knownTo: request),
      let now = try? Self.read(request, limit: known.count + 1)
    else { return false }
    return now.hasSameBytes(as: known)
  }

  /// The text that whoever asks has; nil if that is another one, or none.
  private func text(knownTo request: CaptureRequest) -> [UInt8]? {
    guard let last, request.knownMaps == last.question, request.processID == last.process else { return nil }
    return last.text
  }

  private static func read(_ request: CaptureRequest, limit: Int) throws(CaptureFailure) -> [UInt8] {
    do {
      return try FileDescriptor.open("/proc/\(request.processID)/task/\(request.threadID)/maps").readAll(
        limit: limit)
    } catch { throw CaptureFailure(error) }
  }
}

/// What the watch was told.
struct KnownMaps {
  let process: Int32
  let question: UInt64
  let text: SealedBytes
}

extension CaptureRequest {
  /// The question whose answer was the list that is there still; nil: there is none.
  var knownMaps: UInt64? {
    get { address == CaptureReply.helloID ? nil : address }
    set { address = newValue ?? CaptureReply.helloID }
  }
}

extension CaptureHelper {
  /// The text of `maps`, unread; the same one again while it has not changed. Through the thread, because an ended leader
  /// shows none.
  package mutating func readMaps(
    processID: Int32, threadID: Int32, deadline: Duration = .milliseconds(200)
  ) throws(CaptureFailure) -> SealedBytes {
    var request = CaptureRequest(kind: .maps, processID: processID, threadID: threadID)
    request.knownMaps = mapsKnown(of: processID)?.question
    let answer = try ask(request, deadline)
    if let known = maps(knownBy: answer.reply, of: processID) { return known }
    guard let file = answer.file else { throw .malformedReply }
    let text = SealedBytes(file)
    knownMaps =
      text.count <= ToldMaps.mostBytes
      ? KnownMaps(process: processID, question: lastID, text: text) : nil
    return text
  }

  func mapsKnown(of process: Int32) -> KnownMaps? { knownMaps?.process == process ? knownMaps : nil }

  /// Nil: they are others by now, or nobody has looked.
  func maps(knownBy reply: CaptureReply, of process: Int32) -> SealedBytes? {
    reply.areMapsAsKnown ? mapsKnown(of: process)?.text : nil
  }
}
