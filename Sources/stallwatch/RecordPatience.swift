// How long a record waits for the stacks that belong to it.

internal import Reports
internal import StallCore

enum RecordPatience {
  /// A program is told of a stall at once (`isUrgent`), if need be with addresses alone; a person would rather read names a
  /// moment later, and without them nobody knows whether the place is told of already. Later records wait until all is known
  /// that can be known in short.
  static func patience(_ state: StallState, isUrgent: Bool, since moment: Moment) -> Duration {
    guard state == .ongoing else { return left(of: .seconds(1), since: moment) }
    return left(of: isUrgent ? .milliseconds(8) : .milliseconds(150), since: moment)
  }

  /// For threads that are not the stalled one.
  static func ofWorkers(since moment: Moment) -> Duration { left(of: .seconds(5), since: moment) }

  /// Records must not fall behind what they tell of, and never keep the program from ending.
  private static func left(of time: Duration, since moment: Moment) -> Duration {
    max(.zero, time - (.now - moment.monotonic))
  }
}
