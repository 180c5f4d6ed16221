// What the readings of a variable that counts the loop's rounds say of passes, and when it is not to be believed.

/// Fed with each look, with or without a reading.
package struct Heartbeat: Sendable {
  /// One reading: the value was read between these moments.
  package struct Reading: Sendable, Equatable {
    package var value: UInt64
    package var began: Instant
    package var ended: Instant

    package init(value: UInt64, began: Instant, ended: Instant) {
      (self.value, self.began, self.ended) = (value, began, ended)
    }
  }

  private var last: Reading?
  /// The look before has a reading of its own.
  private var isContinuous = false
  /// The value was read first by then.
  private var quietSince: Instant?
  private var lastPass: (at: Instant, after: Instant)?
  /// A variable that was never seen to change says nothing by not changing.
  private var hasAdvanced = false
  /// The thread's own count at the last parked look with a reading.
  private var switchesInPark: UInt64?
  private var roundsWithoutAdvance = 0
  /// The loop went round and round, and the variable did not change.
  package private(set) var isDistrusted = false

  /// Parked looks, each after a wake-up or more, without a change.
  private static let mostRounds = 10
  /// How far apart readings are while the loop is parked.
  private static let whileParked: Duration = .seconds(2)

  package init() {}

  /// Whether a look needs a reading. Between two parks it costs nothing to know nothing.
  package func wantsReading(at look: ThreadObservation, isParked: Bool) -> Bool {
    if isDistrusted { return false }
    guard isParked, let last else { return true }
    return look.at - last.began >= Self.whileParked && look.voluntarySwitches != switchesInPark
  }

  /// A look without a reading.
  package mutating func skip() { isContinuous = false }

  /// The value may be that of another variable by now.
  package mutating func forget() { self = Heartbeat() }

  /// What a reading at a look adds; the thread may have come round some microseconds after the look.
  package mutating func take(
    _ reading: Reading, at look: ThreadObservation, isParked: Bool
  ) -> PassSight? {
    defer {
      last = reading
      isContinuous = true
    }
    let isChanged = last.map { $0.value != reading.value }
    if let isChanged { judge(isChanged, look, isParked) }
    if isDistrusted { return nil }
    if isChanged == false { return sight() }
    quietSince = reading.ended
    guard let last else { return nil }
    hasAdvanced = true
    // Before the look before, it may have been anywhere.
    guard isContinuous else { return sight() }
    lastPass = (reading.ended, last.began)
    return sight(firstPass: reading.ended)
  }

  private mutating func judge(_ isChanged: Bool, _ look: ThreadObservation, _ isParked: Bool) {
    if isChanged {
      roundsWithoutAdvance = 0
    } else if isParked, let switchesInPark, look.voluntarySwitches != switchesInPark {
      roundsWithoutAdvance += 1
      isDistrusted = roundsWithoutAdvance >= Self.mostRounds
    }
    if isParked { switchesInPark = look.voluntarySwitches }
  }

  private func sight(firstPass: Instant? = nil) -> PassSight? {
    guard hasAdvanced else { return nil }
    var sight = PassSight(
      source: .heartbeat, firstPass: firstPass, lastPass: lastPass?.at, lastPassAfter: lastPass?.after,
      quietSince: quietSince)
    sight.count = firstPass == nil ? 0 : 1
    return sight
  }
}
