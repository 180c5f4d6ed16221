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
    append(.threadBegan, longBody: body)
  }

  /// Of the main queue: who works for it from here on. Its role is the queue's.
  package mutating func append(worker: RecordedThread) {
    var body = RecordingBytes()
    body.append(count: worker.index)
    body.append(signed: Int64(worker.threadID))
    body.append(string: worker.name.bytes)
    append(.worker, longBody: body)
  }

  /// A look did not find it; it may be told later that no more looks will come.
  package mutating func appendMissed(_ thread: Int) {
    append(.threadMissed) { $0.append(count: thread) }
  }

  /// No more looks at it will come.
  package mutating func appendEnded(_ thread: Int, _ reason: Interruption, at moment: Instant) {
    let isOver = reason == .watchEnded || reason == .targetExited
    append(isOver ? .followedToEnd : .threadEnded) {
      $0.append(count: thread)
      $0.append(moment)
      $0.append(reason == .threadChanged || reason == .targetExited ? 1 : 0)
    }
  }

  package mutating func appendProgramReplaced(_ thread: Int) {
    append(.programReplaced) { $0.append(count: thread) }
  }

  package mutating func appendSightChanged(_ thread: Int) {
    append(.sightChanged) { $0.append(count: thread) }
  }

  package mutating func appendJudged(_ thread: Int, _ isJudged: Bool) {
    append(.judged) {
      $0.append(count: thread)
      $0.append(isJudged ? 1 : 0)
    }
  }

  package mutating func appendLooksMissing(_ count: Int) { append(.looksMissing) { $0.append(count: count) } }

  package mutating func append(_ clock: RecordedClock) {
    append(.clock) {
      $0.append(clock.at)
      $0.append(number: UInt64(max(0, clock.wallMicroseconds)))
    }
  }
}
