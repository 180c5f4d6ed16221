// The format of recordings in numbers: how a file begins, which entries there are, and the bounds a reader holds it to.

/// Docs/RecordingFormat.md explains it.
package enum RecordingFormat {
  /// How a file begins; the number of the format follows.
  package static let magic = Array("stallwatch recording\n".utf8)
  package static let version: UInt64 = 1

  /// A look at a thread that shows what the look before it showed: `1ttt dddd dddd dddd`, thread and deviation.
  static let repeatedLook: UInt8 = 0x80
  static let mostRepeatedThread = 7
  static let mostDeviation: UInt64 = 0xFFF
  /// Any other look: `01mm mmmm`, where the mask says what is new.
  static let changedLook: UInt8 = 0x40

  /// No moment or duration is longer, which keeps all sums of them within 64 bits: 35 years.
  static let mostMicroseconds: Int64 = 1 << 50
  /// Of the wall clock: the year 2255.
  static let mostWallMicroseconds: Int64 = 1 << 53
  package static let mostThreads = 1024
  static let mostStringBytes = 1 << 16
  /// Strings that are written once and then referred to.
  static let mostStrings = 1 << 16
  static let mostItems = 10_000
  /// What an encoded look, with what may stand before it, never exceeds.
  package static let mostLookBytes = 640
}

/// The entries that are no looks: this byte, the length of what follows, and that. A reader skips what it does not know.
enum EntryKind: UInt8 {
  case watch = 1
  case threadBegan, threadEnded
  case clock
  case programReplaced, sightChanged, judged, learned
  case looksMissing
  /// What they say is about the look that follows.
  case late, captured
  case notice, stack, busyThread, exit, end
  case gap, phaseFact, background
  /// The same as `late`.
  case arrival
  /// Of the surroundings of the thread of the look that follows.
  case surroundings
  /// Who works for the main queue.
  case worker
  case probed, pingTaken
  /// A thread was followed to the end of the watch or of the process.
  case followedToEnd
  /// A look did not find the thread.
  case threadMissed
  /// The same as `late`.
  case blockBound
}

/// What of a look is not as in the look before it.
struct LookChanges: OptionSet {
  let rawValue: UInt8

  static let counts = LookChanges(rawValue: 1)
  static let ticks = LookChanges(rawValue: 2)
  static let place = LookChanges(rawValue: 4)
  static let blockedSince = LookChanges(rawValue: 8)
  static let descriptors = LookChanges(rawValue: 16)
  static let passes = LookChanges(rawValue: 32)
}
