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

  /// It is gone, or another one is followed instead.
  package mutating func appendEnded(_ thread: Int, _ reason: Interruption, at moment: Instant) {
    append(.threadEnded) {
      $0.append(count: thread)
      $0.append(moment)
      $0.append(reason == .threadChanged ? 1 : 0)
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
