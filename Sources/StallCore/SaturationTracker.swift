// Follows a loop that comes round without being parked: many short jobs, no single long one.

/// What the caller has to do after a look. The tracker itself touches nothing.
package enum SaturationAction: Sendable, Equatable {
  case none
  /// The loop has not been parked for the threshold: capture the thread, then say so.
  case captureAndReport(Saturation)
  /// It goes on: one more stack, so that it shows what the loop is busy with.
  case capture(Saturation)
  /// It is over.
  case report(Saturation)
}

struct SaturationTracker: Sendable {
  private enum State: Sendable {
    /// Parked, or nothing is known.
    case settled
    case unparked(UnparkedSpell)
    /// `samples`: stacks that were asked for so far.
    case told(UnparkedSpell, id: Int, samples: Int)
  }

  private let threshold: Duration
  private var state = State.settled

  /// So many stacks tell what it is busy with; each holds the thread for a moment, or takes a sample of it.
  private static let mostSamples = 20

  init(threshold: Duration) { self.threshold = threshold }

  /// Its end will be told.
  var isTold: Bool {
    if case .told = state { true } else { false }
  }

  /// Takes in one look, judged. Where it found the loop at work, `parked` is the last look before it that found it parked;
  /// `newID` is for an episode that begins.
  mutating func observe(
    _ look: ThreadObservation, _ position: LoopPosition, after parked: ThreadObservation?, newID: Int
  ) -> SaturationAction {
    switch state {
    case .settled:
      if position == .working { state = .unparked(UnparkedSpell(first: look, after: parked)) }
      return .none
    case .unparked, .told: break
    }
    if position == .parked { return end(by: look, state: .ended) }
    return goOn(look, isElsewhere: position == .working, newID: newID)
  }

  private mutating func goOn(_ look: ThreadObservation, isElsewhere: Bool, newID: Int) -> SaturationAction {
    switch state {
    case .settled: return .none
    case .unparked(var spell):
      guard spell.extend(look, isElsewhere: isElsewhere) else {
        state = .settled
        return .none
      }
      guard isElsewhere, spell.isSaturated(for: threshold) else {
        state = .unparked(spell)
        return .none
      }
      state = .told(spell, id: newID, samples: 1)
      return .captureAndReport(statement(spell, .ongoing, id: newID))
    case .told(var spell, let id, let samples):
      guard spell.extend(look, isElsewhere: isElsewhere) else { return end(by: nil, state: .ended) }
      let takesSample = isElsewhere && samples < Self.mostSamples
      state = .told(spell, id: id, samples: samples + (takesSample ? 1 : 0))
      return takesSample ? .capture(statement(spell, .ongoing, id: id)) : .none
    }
  }

  /// A capture may have stopped the thread, which counts as a sleep or two; `look` was taken right after it.
  mutating func absorbCapture(_ look: ThreadObservation) {
    guard case .told(var spell, let id, let samples) = state else { return }
    spell.absorbCapture(look)
    state = .told(spell, id: id, samples: samples)
  }

  /// The target ended or was replaced, or the watch ends.
  mutating func interrupt(_ reason: Interruption) -> SaturationAction {
    end(by: nil, state: .interrupted(reason))
  }

  private mutating func end(by park: ThreadObservation?, state ending: StallState) -> SaturationAction {
    defer { state = .settled }
    guard case .told(var spell, let id, _) = state else { return .none }
    if let park { spell.park(park) }
    return .report(statement(spell, ending, id: id))
  }

  private func statement(_ spell: UnparkedSpell, _ ending: StallState, id: Int) -> Saturation {
    Saturation(
      id: id, state: ending, threshold: threshold, startedAt: spell.startedAt, duration: spell.duration,
      passes: spell.passes, longestPass: spell.longestRound, breakdown: spell.breakdown)
  }
}

/// From leaving a park to the next one, however often the loop comes round in between.
private struct UnparkedSpell: Sendable {
  private let earliestStart: Instant?
  private let likelyStart: Instant
  private let latestStart: Instant
  private let base: ThreadObservation
  private var last: ThreadObservation
  private var end: (earliest: Instant, latest: Instant)
  private var paused: Duration = .zero
  private var count = 0
  /// Something saw every pass.
  private var isCountComplete = true
  private var longest: Duration = .zero
  private var lastPass: Instant?

  init(first: ThreadObservation, after parked: ThreadObservation?) {
    let start = SpellStart(countedFor: first, after: parked)
    (earliestStart, likelyStart, latestStart) = (start.earliest, start.likely, start.latest)
    base = parked ?? first
    last = first
    end = (first.at, first.at)
    count(first)
  }

  /// False if the loop may have parked since the last look.
  mutating func extend(_ look: ThreadObservation, isElsewhere: Bool) -> Bool {
    let sleeps = look.voluntarySwitches &- last.voluntarySwitches
    let isQuiet = look.passes?.isQuiet(since: last.at) ?? false
    let goesOn =
      look.state.isPaused || look.hasNotMoved(since: last) || isElsewhere && isQuiet
      || isElsewhere && !last.state.isPaused && sleeps <= (look.isBlocked ? 1 : 0)
    guard goesOn else { return false }
    if look.state.isPaused { paused += look.at - last.at }
    count(look)
    last = look
    end = (look.at, look.at)
    return true
  }

  /// Unless the thread has gone to sleep meanwhile, which the next look will see.
  mutating func absorbCapture(_ look: ThreadObservation) {
    guard look.isAtSamePlace(as: last),
      look.voluntarySwitches &- last.voluntarySwitches <= WorkingSpell.mostSleepsInACapture
    else { return }
    if look.isBlocked { last = look } else { last.voluntarySwitches = look.voluntarySwitches }
  }

  mutating func park(_ look: ThreadObservation) {
    let since = min(look.at, look.blockedSince ?? look.at)
    end = (last.at, max(last.at, since))
  }

  private mutating func count(_ look: ThreadObservation) {
    guard let sight = look.passes else {
      isCountComplete = false
      return
    }
    // That it left the park is no pass of this spell.
    if let pass = sight.lastPass, pass > latestStart { lastPass = pass }
    count += sight.count
    longest = max(longest, sight.longestRound)
    if sight.quietSince == nil { isCountComplete = false }
  }

  /// It came round, not only when it left its park, and was not parked for so long.
  func isSaturated(for threshold: Duration) -> Bool {
    guard let lastPass, last.at - latestStart - paused >= threshold else { return false }
    return lastPass - latestStart >= threshold / 10 && last.at - lastPass < threshold
  }

  var startedAt: Instant { likelyStart }
  var passes: Int? { isCountComplete ? count : nil }
  var longestRound: Duration? { longest > .zero ? longest : nil }

  var duration: DurationEstimate {
    let likely = max(.zero, end.latest - likelyStart - paused)
    return DurationEstimate(
      likely: likely, atLeast: min(likely, max(.zero, end.earliest - latestStart - paused)),
      atMost: earliestStart.map { max(.zero, end.latest - $0 - paused) })
  }

  var breakdown: TimeBreakdown {
    var parts = TimeBreakdown()
    let likely = duration.likely
    parts.onCPU = min(max(.zero, last.cpuTime - base.cpuTime), likely)
    parts.runnable = min(max(.zero, last.runQueueDelay - base.runQueueDelay), likely - parts.onCPU)
    parts.blocked = likely - parts.onCPU - parts.runnable
    parts.stopped = paused
    return parts
  }
}
