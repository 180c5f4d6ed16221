// The short entries that stand among the looks, in the order in which things happened.

package import StallCore

extension RecordingBytes {
  /// How a recording begins.
  package mutating func appendHeader() {
    append(contentsOf: RecordingFormat.magic)
    append(number: RecordingFormat.version)
  }

  package mutating func append(_ thread: RecordedThread) {
    var body = RecordingBytes()
    body.append(count: thread.index)
    body.append(signed: Int64(thread.threadID))
    body.append(string: thread.name.bytes)
    body.append(string: Array(thread.role.rawValue.utf8))
    body.append(string: Array(thread.reason.utf8))
    append(.threadBegan, longBody: body)
  }

  package mutating func appendThreadEnded(_ index: Int, at moment: Instant) {
    append(.threadEnded) {
      $0.append(count: index)
      $0.append(moment)
    }
  }

  package mutating func appendProgramReplaced() { append(.programReplaced) { _ in } }

  package mutating func appendSightChanged() { append(.sightChanged) { _ in } }

  package mutating func appendJudged(_ isJudged: Bool) { append(.judged) { $0.append(isJudged ? 1 : 0) } }

  package mutating func appendLooksMissing(_ count: Int) { append(.looksMissing) { $0.append(count: count) } }

  package mutating func append(_ clock: RecordedClock) {
    append(.clock) {
      $0.append(clock.at)
      $0.append(number: UInt64(max(0, clock.wallMicroseconds)))
    }
  }
}
