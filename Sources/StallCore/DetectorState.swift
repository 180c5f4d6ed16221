// What can be asked of a detector between two looks.

extension StallDetector {
  /// The last look found the loop parked, or nothing is known.
  package var isSettled: Bool {
    if case .settled = state { true } else { false }
  }

  /// The last look found the loop parked, and nothing is going on.
  package var isAtRest: Bool { position == .parked && isSettled && !unparked.isTold }

  /// All that there is to a look that finds it so still, in the same block; gives when the next one is due.
  package func rest(at moment: Instant) -> Instant {
    lastParked?.at = moment
    lastRest = moment
    countPosition(at: moment)
    return schedule.next(after: moment, isParked: true, deadline: nil)
  }

  package var isStalled: Bool {
    if case .stalled = state { true } else { false }
  }

  /// Since when the present spell is certain.
  package var spellStart: Instant? { isSettled ? nil : spell.latestStart }

  /// It is stalled, or has been at one piece of work for half of what would make it so.
  package func mayBeStalled(at moment: Instant) -> Bool {
    switch state {
    case .settled: false
    case .working: moment - spell.latestStart >= terms.threshold / 2
    case .stalled: true
    }
  }

  /// It was not seen to be parked or to come round for a good part of the threshold.
  package func isHeldUp(at moment: Instant) -> Bool {
    guard !isSettled, let last = lastRest else { return false }
    return moment - last >= threshold / 4
  }

  func noteRest(_ look: ThreadObservation) {
    if position == .parked {
      if let lastParked, !look.hasNotMoved(since: lastParked) { parkedBefore = lastParked }
      (lastParked, lastRest) = (look, look.at)
    } else if let pass = look.passes?.lastPass {
      lastRest = max(lastRest ?? pass, pass)
    }
  }
}
