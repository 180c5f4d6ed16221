// What is known of the loop of a followed thread, for those who choose whom to follow.

internal import StallCore

extension FollowedThread {
  /// It waits, again and again, in something that is made for loops or for requests.
  var runsLoop: Bool {
    guard missedLooks < 2, let home = detector.loop.home, detector.loop.isJudgeable else { return false }
    return home.rank >= 2 && home.site.kind != .signal && home.site.kind != .children
  }

  /// What is to be said if it stays so.
  var whyNoLoop: String { remarks.noLoop(detector.loop) }

  /// As it does for ever after `dispatchMain()`.
  var waitsForSignals: Bool {
    missedLooks == 0 && detector.loop.presentWait?.site.kind == .signal
  }

  /// Asleep in its loop's wait, as far as is known.
  var isParked: Bool { lastLook?.isBlocked == true && detector.isSettled }
}
