// One spell of work between two parks: when it can have begun, whether the loop can have parked meanwhile, and where the
// time went.

/// Built from looks alone. Everything that is not certain widens the bounds; nothing is assumed to be long.
package struct WorkingSpell: Sendable {
  /// The thread was certainly parked (or not yet there) at this moment. Nil if the watch began later.
  package private(set) var earliestStart: Instant?
  /// The thread was certainly at work from this moment on, without a park.
  package private(set) var latestStart: Instant
  package private(set) var likelyStart: Instant
  /// See `SpellStart`.
  private var startIfAtWork: (likely: Instant, latest: Instant)?
  /// The likely start before any sleep went unseen.
  let firstLikelyStart: Instant
  /// Stopped or traced since the start; does not count.
  private(set) var paused: Duration = .zero
  /// Between a look that found it so and one that did not: some of it may not count.
  private(set) var edges: Duration = .zero
  /// The longest single block, seen not to move, since `latestStart`.
  private(set) var longestBlock: Duration = .zero
  /// The thread has not given up the CPU since `latestStart`.
  private(set) var neverSlept: Bool

  /// For how long something that sees every pass saw none.
  private(set) var quiet = QuietStretch()

  /// What times and counts are compared with: the last parked look, or else the first look of the spell.
  let base: ThreadObservation
  package private(set) var last: ThreadObservation
  /// The last look up to which the loop certainly did not park.
  private(set) var certain: ThreadObservation
  private(set) var blind: Duration = .zero
  private(set) var blockBegan: Instant?
  /// Stopped or traced within the present block.
  private(set) var blockPaused: Duration = .zero
  /// Only the kinds of its waits could be seen.
  private(set) var isSeenByKind = false
  /// Sleeps that were taken for the stops of a capture may have been its own.
  private(set) var mayHaveSlept = false
  /// More often between two looks than a capture can make it.
  private(set) var sleepsOften = false
  /// A capture held the thread, and no look has yet found it back where it was.
  private var isBackFromCapture = true

  /// Before the first.
  static let none = WorkingSpell(
    first: ThreadObservation(
      at: Instant(nanoseconds: 0), state: .sleeping, activity: .unknown, cpuTime: .zero, runQueueDelay: .zero,
      timesScheduled: 0, voluntarySwitches: 0), after: nil)

  /// Begins with the first look that does not find the loop parked; `parkedLook` is the last one that did.
  package init(first: ThreadObservation, after parkedLook: ThreadObservation?) {
    base = parkedLook ?? first
    (last, certain) = (first, first)
    let start = SpellStart(of: first, after: parkedLook)
    (earliestStart, likelyStart, latestStart) = (start.earliest, start.likely, start.latest)
    startIfAtWork = start.ifAtWork
    firstLikelyStart = start.likely
    neverSlept = !first.isBlocked
    beginBlock(first)
    quiet.extend(first, from: latestStart, until: first.at)
  }

  /// A further look that does not find the loop parked.
  /// `isElsewhere` is false if the look could not tell where the thread is. A gap between looks of more than `gap` is
  /// blind, unless the thread's own counts bridge it.
  package mutating func extend(_ look: ThreadObservation, isElsewhere: Bool, blindAfter gap: Duration) {
    if isOnItsWayBack(look) { return }
    defer {
      last = look
      isBackFromCapture = true
    }
    if look.state.isPaused || last.state.isPaused { pause(look) }
    if look.state.isPaused {
      certain = look
    } else if look.hasNotMoved(since: last) || hasComeBack(look) {
      certain = look
      if isElsewhere { measureBlock(until: look.at) }
    } else {
      proveStart(by: look, isElsewhere: isElsewhere)
      noteDoubt(look)
      if !continues(with: look, isElsewhere: isElsewhere) {
        restart(at: look, isElsewhere: isElsewhere, blindAfter: gap)
      }
      if look.isBlocked { neverSlept = false }
      if isElsewhere { beginBlock(look) }
    }
    if isElsewhere { quiet.extend(look, from: latestStart, until: certain.at) }
  }

  /// It is elsewhere now, and has not passed: then it was at work all the time.
  private mutating func proveStart(by look: ThreadObservation, isElsewhere: Bool) {
    guard let start = startIfAtWork else { return }
    guard look.passes?.isQuiet(since: start.latest) ?? false else {
      startIfAtWork = nil
      return
    }
    guard isElsewhere, look.isBlocked || hasLeftWait(by: look) else { return }
    (likelyStart, latestStart, startIfAtWork) = (start.likely, start.latest, nil)
    quiet = QuietStretch()
  }

  /// A thread that has slept where no look saw it, and runs now or waits for a CPU, may be on its way out of the loop's
  /// own wait: what would see it pass has not seen it yet. What it sleeps in next, or does on a CPU, shows that it was not.
  private mutating func noteDoubt(_ look: ThreadObservation) {
    let sleeps = look.voluntarySwitches &- last.voluntarySwitches
    if sleeps > Self.mostSleepsInACapture { sleepsOften = true }
    certain = settled(by: look)
    if look.isBlocked || hasLeftWait(by: look) { mayHaveSlept = false }
    if look.isBlocked || sleeps == 0 && certain.at == last.at && !mayHaveSlept { certain = look }
  }

  /// The last look up to which the loop certainly did not park, as far as a later one tells, if it did not pass meanwhile.
  func settled(by look: ThreadObservation) -> ThreadObservation {
    look.isBlocked || hasLeftWait(by: look) ? last : certain
  }

  /// Since the last look it has done more on a CPU than what it takes to return from a wait.
  func hasLeftWait(by look: ThreadObservation) -> Bool { look.cpuTime - last.cpuTime >= Self.longestWayOut }

  /// Of CPU time, from where a wait in the kernel is woken to the instruction behind it.
  private static let longestWayOut: Duration = .microseconds(200)

  private mutating func pause(_ look: ThreadObservation) {
    let time = look.at - last.at
    if look.state.isPaused, last.state.isPaused { paused += time } else { edges += time }
    blockPaused += time
    quiet.pause(time)
  }

  /// The loop came round since the last look: the work that this look shows is other work.
  package func isOver(by look: ThreadObservation) -> Bool { look.passes?.firstPass != nil }

  /// Our own capture stopped the thread, which counts as a sleep or two. If `look`, taken right after, finds it where it
  /// was, the counts start anew from there and the block goes on.
  package mutating func absorbCapture(_ look: ThreadObservation) {
    isBackFromCapture = look.isAtSamePlace(as: last)
    guard isBackFromCapture else { return }
    guard look.isBlocked else { return absorbStops(look) }
    if look.at - last.at <= Self.longestCapture || quiet.since != nil {
      measureBlock(until: look.at)
    } else {
      // It may have gone on and be blocked there anew, for the same lock, and nothing will tell: the proof begins again.
      (blockBegan, blockPaused) = (look.at, .zero)
    }
    if certain.at == last.at { certain = look }
    last = look
  }

  /// Of one that nobody was in the way of; some hundred microseconds.
  private static let longestCapture: Duration = .milliseconds(2)

  /// It ran on, and may have passed since the last look, which the next one will be told: only the stop is absorbed. Where
  /// the look came late, what is absorbed may have been a park, out of which it is on its way.
  private mutating func absorbStops(_ look: ThreadObservation) {
    let sleeps = look.voluntarySwitches &- last.voluntarySwitches
    guard sleeps <= Self.mostSleepsInACapture else { return }
    if certain.at == last.at { certain.voluntarySwitches = look.voluntarySwitches }
    last.voluntarySwitches = look.voluntarySwitches
    if sleeps > 0 { (mayHaveSlept, last.cpuTime) = (true, look.cpuTime) }
  }

  static let mostSleepsInACapture: UInt64 = 2

  /// It was held in a block, and has done nothing since but begin to go back there.
  private func isOnItsWayBack(_ look: ThreadObservation) -> Bool {
    !isBackFromCapture && last.isBlocked && !look.isBlocked && !look.state.isPaused
      && look.voluntarySwitches &- last.voluntarySwitches <= Self.mostSleepsInACapture
      && look.cpuTime - last.cpuTime < Self.longestWayBack
  }

  /// Of CPU time, from a stop to the block that goes on.
  private static let longestWayBack: Duration = .milliseconds(1)

  /// On a busy machine the thread may still wait for a CPU when the look right after the capture is made. The stop and
  /// the call that goes on are two sleeps.
  private func hasComeBack(_ look: ThreadObservation) -> Bool {
    !isBackFromCapture && look.isBlocked && look.isAtSamePlace(as: last)
      && look.voluntarySwitches &- last.voluntarySwitches <= Self.mostSleepsInACapture
  }

  /// Whether the loop certainly did not park between the last look and this one: the thread did not move, or its only
  /// sleep since is the one that this look sees elsewhere, or no wait of the loop's has ended. By counts not across a
  /// stop: what came after it is not known.
  package func continues(with look: ThreadObservation, isElsewhere: Bool) -> Bool {
    if look.state.isPaused || look.hasNotMoved(since: last) || hasComeBack(look) || isOnItsWayBack(look) {
      return true
    }
    if isElsewhere, look.passes?.isQuiet(since: last.at) ?? false { return true }
    let sleeps = look.voluntarySwitches &- last.voluntarySwitches
    return isElsewhere && !last.state.isPaused && sleeps <= (look.isBlocked ? 1 : 0)
  }

  /// The thread slept where no look saw it: it may have parked. Only what is certain from here on counts.
  private mutating func restart(at look: ThreadObservation, isElsewhere: Bool, blindAfter gap: Duration) {
    if look.at - last.at > gap { blind += look.at - last.at }
    startIfAtWork = nil
    sleepsOften = false
    latestStart = look.isBlocked && isElsewhere ? look.blockedSince ?? look.at : look.at
    likelyStart = latestStart
    blockBegan = nil
    neverSlept = !look.isBlocked
    longestBlock = .zero
    (paused, edges) = (.zero, .zero)
    certain = look
    quiet = QuietStretch()
  }

  private mutating func beginBlock(_ look: ThreadObservation) {
    if case .blockedByKind = look.activity { isSeenByKind = true }
    blockBegan = look.isBlocked ? max(look.blockedSince ?? look.at, latestStart) : nil
    blockPaused = .zero
    measureBlock(until: look.at)
  }

  private mutating func measureBlock(until moment: Instant) {
    if let blockBegan { longestBlock = max(longestBlock, moment - blockBegan - blockPaused) }
  }
}
