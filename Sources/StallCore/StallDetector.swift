// Turns the looks at one thread into episodes: one table, state × event, that returns the action.

/// Of some kilobytes and asked at every look, so there is one of each.
package final class StallDetector {
  /// Where an episode stands.
  enum State: Sendable {
    /// Parked, or nothing is known yet.
    case settled
    case working
    /// `next`: the duration at which the episode is reported again.
    case stalled(id: Int, next: Duration)
  }

  /// What one look, or the end of all looking, means for the episode.
  private enum Event {
    case parked(ThreadObservation)
    case working(ThreadObservation)
    /// At work, unless the loop turns out to park here.
    case perhapsParked(ThreadObservation)
    /// Parked in a wait that only this look has shown to be the home.
    case foundHome(ThreadObservation)
    case undecided(ThreadObservation)
    case cutOff(Interruption)
  }

  /// Near misses are those of this one.
  package let threshold: Duration
  /// By what spells are judged from now on.
  package var terms: JudgementTerms
  /// By what the present episode is judged.
  var episodeTerms: JudgementTerms
  /// What the last look said about the loop.
  package private(set) var position = LoopPosition.undecided
  /// The waits of this program tell nothing of a loop: its runtime runs it now on this thread, now on that, or its system
  /// calls are not known. Nothing is judged then.
  package var isBlindToLoop = false
  package private(set) var loop: EventLoopModel
  package internal(set) var statistics = LoopStatistics()
  /// What the last look, or the end of all looking, means for a loop that comes round without being parked.
  package private(set) var saturation = SaturationAction.none
  var unparked: SaturationTracker
  var schedule: LookSchedule
  var state = State.settled
  /// Of the present episode, or of one that is over; changed in place, since it is too large to be moved about.
  var spell = WorkingSpell.none
  var lastParked: ThreadObservation?
  /// The last look that found the loop parked in an earlier block than `lastParked`.
  var parkedBefore: ThreadObservation?
  /// When the loop was last known to be parked or to come round.
  var lastRest: Instant?
  var episodes = 0
  /// Nothing that was seen before counts for what is seen from here on.
  var notBefore: Instant?
  var wasPaused = false

  /// `home`: where the loop parks, if a person has said it.
  package init(threshold: Duration, interval: Duration?, home: HomeSelector? = nil) {
    self.threshold = threshold
    loop = EventLoopModel(given: home)
    terms = JudgementTerms(threshold: threshold)
    episodeTerms = terms
    schedule = LookSchedule(threshold: threshold, interval: interval)
    unparked = SaturationTracker(threshold: threshold)
  }

  /// Takes in one look; `nextLook` is when the next one is due. `blockStart` tells when the block of this look began; it
  /// costs something and is asked only where it matters.
  package func observe(
    _ firstLook: ThreadObservation, blockStart: () -> BlockStart?
  ) -> (action: StallAction, nextLook: Instant) {
    var look = firstLook
    let homeBefore = loop.home?.site.multiplexer
    position = isBlindToLoop ? .undecided : loop.observe(look)
    let isNewHome = homeBefore != nil && homeBefore != loop.home?.site.multiplexer
    if needsBlockStart(look) { look.blockStart = blockStart() }
    noteResumption(look)
    if let notBefore { look.forget(before: notBefore) }
    countPosition(at: look.at)
    let action: StallAction =
      switch position {
      case .parked: handle(isNewHome ? .foundHome(look) : .parked(look))
      case .working: handle(.working(look))
      case .perhapsParked: handle(.perhapsParked(look))
      case .undecided, .paused: handle(.undecided(look))
      }
    let parked = position == .working ? park(before: look) : nil
    saturation = unparked.observe(look, position, after: parked, newID: episodes + 1)
    if case .captureAndReport = saturation { episodes += 1 }
    noteRest(look)
    let next = schedule.next(after: look.at, isParked: position != .working, deadline: deadline)
    return (action, next)
  }

  func countPosition(at moment: Instant) {
    statistics.count(loop.home?.site.kind == .unseen ? .undecided : position, at: moment)
  }

  /// It is the end of what was short in any case, or of nothing: then it tells nothing worth its price.
  private func needsBlockStart(_ look: ThreadObservation) -> Bool {
    guard look.isBlocked, look.blockedSince == nil else { return false }
    return switch state {
    case .settled: position == .working || position == .perhapsParked
    case .working:
      position != .parked || unparked.isTold || look.at - spell.firstLikelyStart >= limit / 4
    case .stalled: true
    }
  }

  /// A capture may have stopped the thread; `look` was taken right after it.
  package func absorbCapture(_ look: ThreadObservation) {
    unparked.absorbCapture(look)
    if !isSettled { spell.absorbCapture(look) }
  }

  /// The target ended or was replaced, or the watch ends.
  package func interrupt(_ reason: Interruption) -> StallAction {
    saturation = unparked.interrupt(reason)
    return handle(.cutOff(reason))
  }

  /// A new program runs in the same process: nothing learned is true of it.
  package func forget() {
    loop = EventLoopModel(given: loop.given)
    (lastParked, parkedBefore) = (nil, nil)
    unparked = SaturationTracker(threshold: threshold)
    state = .settled
  }

  /// What the first stack says of a wait of the thread.
  package func learn(_ meaning: WaitMeaning, of site: Site) { loop.learn(meaning, of: site) }

  package var alertInterval: Duration { schedule.alertInterval }

  /// The stall so far, if there is one.
  package var ongoing: Stall? {
    guard case .stalled(let id, _) = state else { return nil }
    return statement(.ongoing, spell.extent(for: limit), id: id)
  }

  /// The threshold that counts now: an episode keeps the one that it began with.
  var limit: Duration { isStalled ? episodeTerms.threshold : terms.threshold }

  private var deadline: Instant? {
    switch state {
    case .settled: nil
    case .working: spell.reaches(limit)
    case .stalled(_, let next): spell.reaches(next)
    }
  }

  private func handle(_ event: Event) -> StallAction {
    switch state {
    case .settled: begin(event)
    case .working: proceed(event)
    case .stalled(let id, let next): proceed(id: id, next: next, event)
    }
  }

  private func begin(_ event: Event) -> StallAction {
    switch event {
    case .parked, .foundHome, .undecided, .cutOff: return .none
    case .working(let look):
      begin(look, after: park(before: look))
      return advance()
    case .perhapsParked(let look):
      begin(look, after: park(before: look))
      return .none
    }
  }

  private func proceed(_ event: Event) -> StallAction {
    switch event {
    case .working(let look):
      if spell.isOver(by: look) { return startOver(look) }
      extend(by: look)
      return advance()
    case .perhapsParked(let look):
      if spell.isOver(by: look) { return startOver(look) }
      extend(by: look)
      return .none
    case .undecided(let look):
      if spell.isOver(by: look) { return settle(finishUnreported(extent(endedBefore: look))) }
      extend(by: look, isElsewhere: false)
      return .none
    case .foundHome: return settle(.none)
    case .parked(let look): return settle(finishUnreported(spell.ended(by: look, threshold: limit)))
    case .cutOff(let reason):
      return settle(spell.hasReached(limit) ? cutOff(reason, id: newEpisode()) : .none)
    }
  }

  private func proceed(id: Int, next: Duration, _ event: Event) -> StallAction {
    switch event {
    case .working(let look):
      guard !spell.isOver(by: look), spell.continues(with: look, isElsewhere: true) else {
        return startOver(look, id: id)
      }
      extend(by: look)
      return spell.hasReached(next) ? report(id: id) : .none
    case .perhapsParked(let look): return startOver(look, id: id)
    case .undecided(let look):
      guard !spell.isOver(by: look), spell.continues(with: look, isElsewhere: false) else {
        return settle(finish(extent(endedBefore: look), id: id))
      }
      extend(by: look, isElsewhere: false)
      return .none
    case .parked(let look), .foundHome(let look):
      return settle(finish(spell.ended(by: look, threshold: limit), id: id))
    case .cutOff(let reason): return settle(cutOff(reason, id: id))
    }
  }

  private func settle(_ action: StallAction) -> StallAction {
    state = .settled
    return action
  }

  private func begin(_ look: ThreadObservation, after before: ThreadObservation?) {
    spell = WorkingSpell(first: look, after: before)
    state = .working
  }

  private func extend(by look: ThreadObservation, isElsewhere: Bool = true) {
    spell.extend(look, isElsewhere: isElsewhere, blindAfter: schedule.calmInterval * 2)
  }

  /// The loop has come round since the last look without being seen to park: what it does now is other work.
  private func startOver(_ look: ThreadObservation) -> StallAction {
    let extent = extent(endedBefore: look)
    begin(look, after: spell.last)
    return finishUnreported(extent)
  }

  /// The loop may have parked since the last look: that episode is over, and work goes on.
  private func startOver(_ look: ThreadObservation, id: Int) -> StallAction {
    var extent = extent(endedBefore: look)
    // Unless it was seen to pass, it may have gone on for as long as one likes.
    if !spell.isOver(by: look) { extent.duration.atMost = nil }
    let action = finish(extent, id: id)
    begin(look, after: spell.last)
    return action
  }

  /// Of the spell, which ended somewhere before a look that does not find the loop parked.
  private func extent(endedBefore look: ThreadObservation) -> SpellExtent {
    spell.isOver(by: look)
      ? spell.ended(byPassBefore: look, threshold: limit) : spell.ended(by: look, threshold: limit)
  }

  /// A look that took the present block for a park was mistaken, if this one shows that it is none.
  private func park(before look: ThreadObservation) -> ThreadObservation? {
    guard let lastParked, look.hasNotMoved(since: lastParked) else { return lastParked }
    return parkedBefore
  }

  /// Below the threshold so far: has it been reached now? Only what is certain counts.
  private func advance() -> StallAction { spell.hasReached(limit) ? report(id: newEpisode()) : .none }

  /// Again at twice the duration.
  private func report(id: Int) -> StallAction {
    let extent = spell.extent(for: episodeTerms.threshold)
    state = .stalled(id: id, next: max(extent.duration.atLeast, spell.elapsed) * 2)
    return .captureAndReport(statement(.ongoing, extent, id: id))
  }
}
