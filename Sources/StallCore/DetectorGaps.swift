// What a gap in our own looks does to an episode.

extension StallDetector {
  /// After a gap in our own looks; `look` is the first one after it. What nobody saw is nothing that can be told of. What
  /// did not move through a gap of ours alone is where it was; through one that the program shared it proves nothing.
  @discardableResult
  package func startAnew(after gap: WatchGap, at look: ThreadObservation) -> StallAction {
    guard gap.isShared else {
      if !isStalled, let last = isSettled ? lastParked : spell.last, !look.isAccountedFor(since: last) {
        (lastParked, parkedBefore) = (nil, nil)
        state = .settled
      }
      return .none
    }
    let action = interrupt(.machineSuspended)
    (lastParked, parkedBefore, notBefore) = (nil, nil, look.at)
    state = .settled
    return action
  }

  /// Work that began just before a stop was never seen: what passed or blocked before it says nothing of the time since.
  func noteResumption(_ look: ThreadObservation) {
    if isSettled, wasPaused, !look.state.isPaused { notBefore = look.at }
    wasPaused = look.state.isPaused
  }
}
