// What is wrong with a recording, as far as it can be read at all.

package enum RecordingProblem: Error, Sendable, Equatable {
  case notARecording
  case newerFormat(UInt64)
  /// The last entry is cut off, or the one that says how the watch ended is missing.
  case endsEarly
  /// No watch writes this.
  case damaged(atByte: Int)
}
