// One spell of work between two parks: when it can have begun, whether the loop can have parked meanwhile, and where the
// time went.

/// Built from looks alone. Everything that is not certain widens the bounds; nothing is assumed to be long.
package struct WorkingSpell: Sendable {
  /// The thread was certainly parked (or not yet there) at this moment. Nil if the watch began later.
  package private(set) var earliestStart: Instant?
  /// The thread was certainly at work from this moment on, without a park.
  package private(set) var latestStart: Instant
  package private(set) var likelyStart: Instant
  /// The likely start before any sleep went unseen.
  let firstLikelyStart: Instant
  /// Stopped or traced since the start; does not count.
  private(set) var paused: Duration = .zero
  /// The longest single block, seen not to move, since `latestStart`.
  private(set) var longestBlock: Duration = .zero
  /// The thread has not given up the CPU since `latestStart`.
  private(set) var neverSlept: Bool

  /// For how long something that sees every pass saw none.
  private(set) var quiet = QuietStretch()

  /// What times and counts are compared with: the last parked look, or else the first look of the spell.
  let base: ThreadObservation
  package private(set) var last: ThreadObservation
  private(set) var blind: Duration = .zero
  private(set) var blockBegan: Instant?
  /// Only the kinds of its waits could be seen.
  private(set) var isSeenByKind = false
  /// A capture held the thread, and no look has yet found it back where it was.
  private var isBackFromCapture = true

  /// Begins with the first look that does not find the loop parked; `parkedLook` is the last one that did.
  package init(first: ThreadObservation, after parkedLook: ThreadObservation?) {
    base = parkedLook ?? first
    last = first
    let start = Self.start(of: first, after: parkedLook)
    (earliestStart, likelyStart, latestStart) = (start.earliest, start.likely, start.latest)
    firstLikelyStart = start.likely
    neverSlept = !first.isBlocked
    beginBlock(first)
    quiet.extend(first, from: latestStart)
  }

  /// The run time of a running thread is brought up to date once per tick, 10 ms at CONFIG_HZ=100; a tick comes late when
  /// the hypervisor takes the CPU.
  private static let longestTick: Duration = .milliseconds(25)

  /// When the work that `first` shows can have begun.
  ///
  /// If the thread did not sleep since the park, it has been running or runnable since it left: start = now − CPU time −
  /// run-queue delay. If its only sleep is the present one, the same counted back from where that one began. Run time of
  /// a running thread may be one tick old, which only makes the start later than it was.
  private static func start(
    of first: ThreadObservation, after parked: ThreadObservation?
  ) -> (earliest: Instant?, likely: Instant, latest: Instant) {
    let counted = countedStart(of: first, after: parked)
    guard let sight = first.passes, let pass = sight.lastPass, pass > parked?.at ?? Instant(nanoseconds: 0)
    else { return counted }
    let earliest = sight.lastPassAfter ?? pass
    if sight.isQuiet(since: pass) {
      let likely = min(max(counted.likely, earliest), pass)
      return (earliest, sight.lastPassAfter == nil ? pass : likely, pass)
    }
    // More passes may have come after it.
    return (earliest, max(counted.likely, pass), max(counted.latest, sight.quietSince ?? pass))
  }

  /// The same by the counts of the kernel alone.
  static func countedStart(
    of first: ThreadObservation, after parked: ThreadObservation?
  ) -> (earliest: Instant?, likely: Instant, latest: Instant) {
    let workedUntil = first.isBlocked ? first.blockedSince ?? first.at : first.at
    guard let parked else { return (nil, workedUntil, workedUntil) }
    let work = first.cpuTime - parked.cpuTime + first.runQueueDelay - parked.runQueueDelay
    let countedBack = max(parked.at, workedUntil - work)
    let sleeps = first.voluntarySwitches &- parked.voluntarySwitches
    guard sleeps == (first.isBlocked ? 1 : 0) else {
      return (parked.at, first.isBlocked ? workedUntil : countedBack, workedUntil)
    }
    if !first.isBlocked {
      return (max(parked.at, countedBack - longestTick), countedBack, countedBack)
    }
    guard first.blockedSince != nil else { return (parked.at, countedBack, countedBack) }
    return (max(parked.at, countedBack - first.blockedSinceTolerance), countedBack, countedBack)
  }

  /// A further look that does not find the loop parked.
  /// `isElsewhere` is false if the look could not tell where the thread is. A gap between looks of more than `gap` is
  /// blind, unless the thread's own counts bridge it.
  package mutating func extend(_ look: ThreadObservation, isElsewhere: Bool, blindAfter gap: Duration) {
    defer {
      last = look
      isBackFromCapture = true
    }
    if look.state.isPaused {
      paused += look.at - last.at
      quiet.pause(look.at - last.at)
    } else if look.hasNotMoved(since: last) || hasComeBack(look) {
      if isElsewhere { measureBlock(until: look.at) }
    } else {
      if !continues(with: look, isElsewhere: isElsewhere) {
        restart(at: look, isElsewhere: isElsewhere, blindAfter: gap)
      }
      if look.isBlocked { neverSlept = false }
      if isElsewhere { beginBlock(look) }
    }
    if isElsewhere { quiet.extend(look, from: latestStart) }
  }

  /// The loop came round since the last look: the work that this look shows is other work.
  package func isOver(by look: ThreadObservation) -> Bool { look.passes?.firstPass != nil }

  /// Our own capture stopped the thread, which counts as a sleep or two. If `look`, taken right after, finds it where it
  /// was, the counts start anew from there and the block goes on.
  package mutating func absorbCapture(_ look: ThreadObservation) {
    isBackFromCapture = look.isAtSamePlace(as: last)
    guard isBackFromCapture else { return }
    if look.isBlocked { measureBlock(until: look.at) }
    last = look
  }

  /// On a busy machine the thread may still wait for a CPU when the look right after the capture is made. The stop and
  /// the call that goes on are two sleeps.
  private func hasComeBack(_ look: ThreadObservation) -> Bool {
    !isBackFromCapture && look.isBlocked && look.isAtSamePlace(as: last)
      && look.voluntarySwitches &- last.voluntarySwitches <= 2
  }

  /// Whether the loop certainly did not park between the last look and this one: the thread did not move, or its only
  /// sleep since is the one that this look sees elsewhere, or no wait of the loop's has ended. By counts not across a
  /// stop: what came after it is not known.
  package func continues(with look: ThreadObservation, isElsewhere: Bool) -> Bool {
    if look.state.isPaused || look.hasNotMoved(since: last) || hasComeBack(look) { return true }
    if isElsewhere, look.passes?.isQuiet(since: last.at) ?? false { return true }
    let sleeps = look.voluntarySwitches &- last.voluntarySwitches
    return isElsewhere && !last.state.isPaused && sleeps <= (look.isBlocked ? 1 : 0)
  }

  /// The thread slept where no look saw it: it may have parked. Only what is certain from here on counts.
  private mutating func restart(at look: ThreadObservation, isElsewhere: Bool, blindAfter gap: Duration) {
    if look.at - last.at > gap { blind += look.at - last.at }
    latestStart = look.isBlocked && isElsewhere ? look.blockedSince ?? look.at : look.at
    likelyStart = latestStart
    blockBegan = nil
    neverSlept = !look.isBlocked
    longestBlock = .zero
    paused = .zero
    quiet = QuietStretch()
  }

  private mutating func beginBlock(_ look: ThreadObservation) {
    if case .blockedByKind = look.activity { isSeenByKind = true }
    blockBegan = look.isBlocked ? max(look.blockedSince ?? look.at, latestStart) : nil
    measureBlock(until: look.at)
  }

  private mutating func measureBlock(until moment: Instant) {
    if let blockBegan { longestBlock = max(longestBlock, moment - blockBegan) }
  }
}
