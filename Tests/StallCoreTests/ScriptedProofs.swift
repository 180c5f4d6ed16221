// What sees the passes of a made-up loop, as the tests have it behave.

import StallCore

/// Sees so many passes at most between two looks.
struct ScriptedBreakpoint {
  let shots: Int
  private var left: Int
  private var quietSince: Instant
  private var lastPass: Instant?
  private var seen: [Instant] = []
  private var longestRound: Duration = .zero

  init(shots: Int, armedAt: Instant) {
    self.shots = shots
    left = shots
    quietSince = armedAt
  }

  mutating func fire(at moment: Instant) {
    guard left > 0 else { return }
    left -= 1
    seen.append(moment)
    longestRound = max(longestRound, moment - quietSince)
    (quietSince, lastPass) = (moment, moment)
  }

  /// What a look is told. It is armed again then, if need be.
  mutating func take(at moment: Instant) -> PassSight {
    var sight = PassSight(
      source: .breakpoint, firstPass: seen.first, lastPass: lastPass, quietSince: left > 0 ? quietSince : nil)
    (sight.count, sight.longestRound) = (seen.count, longestRound)
    (seen, longestRound) = ([], .zero)
    if left == 0 { (left, quietSince) = (shots, moment) }
    return sight
  }
}

/// A wake-up that the loop takes as soon as it comes round, or when it has done all else that it found.
struct ScriptedWakeUp {
  var isTakenFirst = true
  private(set) var isRaised = false
  private var isInBatch = false

  mutating func raise() { isRaised = true }

  /// Nothing else was there to be done.
  mutating func takeAlone() { (isRaised, isInBatch) = (false, false) }

  mutating func pass() {
    guard isRaised else { return }
    if isTakenFirst || isInBatch {
      takeAlone()
    } else {
      isInBatch = true
    }
  }
}
