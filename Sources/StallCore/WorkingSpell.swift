// One spell of work between two parks: when it can have begun, whether the loop can have parked meanwhile, and where the
// time went.

/// Built from looks alone. Everything that is not certain widens the bounds; nothing is assumed to be long.
package struct WorkingSpell: Sendable {
  /// The thread was certainly parked (or not yet there) at this moment. Nil if the watch began later.
  package private(set) var earliestStart: Instant?
  /// The thread was certainly at work from this moment on, without a park.
  package private(set) var latestStart: Instant
  package private(set) var likelyStart: Instant
  /// Stopped or traced since the start; does not count.
  package private(set) var paused: Duration = .zero
  /// The longest single block, seen not to move, since `latestStart`.
  package private(set) var longestBlock: Duration = .zero
  /// The thread has not given up the CPU since `latestStart`.
  package private(set) var neverSlept: Bool

  /// What times and counts are compared with: the last parked look, or else the first look of the spell.
  private let base: ThreadObservation
  package private(set) var last: ThreadObservation
  private var blind: Duration = .zero
  private var blockBegan: Instant?
  /// A capture held the thread, and no look has yet found it back where it was.
  private var isBackFromCapture = true

  /// Begins with the first look that does not find the loop parked; `parkedLook` is the last one that did.
  package init(first: ThreadObservation, after parkedLook: ThreadObservation?) {
    base = parkedLook ?? first
    last = first
    let start = Self.start(of: first, after: parkedLook)
    (earliestStart, likelyStart, latestStart) = (start.earliest, start.likely, start.latest)
    neverSlept = !first.isBlocked
    beginBlock(first)
  }

  /// At CONFIG_HZ=100; the run time of a running thread is brought up to date once per tick.
  private static let longestTick: Duration = .milliseconds(10)

  /// When the work that `first` shows can have begun.
  ///
  /// If the thread did not sleep since the park, it has been running or runnable since it left: start = now − CPU time −
  /// run-queue delay. If its only sleep is the present one, the same counted back from where that one began. Run time of
  /// a running thread may be one tick old, which only makes the start later than it was.
  private static func start(
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
    } else if look.hasNotMoved(since: last) || hasComeBack(look) {
      if isElsewhere { measureBlock(until: look.at) }
    } else {
      if !continues(with: look, isElsewhere: isElsewhere) {
        restart(at: look, isElsewhere: isElsewhere, blindAfter: gap)
      }
      if look.isBlocked { neverSlept = false }
      if isElsewhere { beginBlock(look) }
    }
  }

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
  /// sleep since is the one that this look sees elsewhere. Not across a stop: what came after it is not known.
  package func continues(with look: ThreadObservation, isElsewhere: Bool) -> Bool {
    if look.state.isPaused || look.hasNotMoved(since: last) || hasComeBack(look) { return true }
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
  }

  private mutating func beginBlock(_ look: ThreadObservation) {
    blockBegan = look.isBlocked ? max(look.blockedSince ?? look.at, latestStart) : nil
    measureBlock(until: look.at)
  }

  private mutating func measureBlock(until moment: Instant) {
    if let blockBegan { longestBlock = max(longestBlock, moment - blockBegan) }
  }

  /// How it is known that the loop did not come round for `threshold`.
  package func proof(for threshold: Duration) -> PassProof {
    if longestBlock >= threshold { return .didNotMove }
    if latestDuration(until: last.at) < threshold { return .none }
    return neverSlept ? .neverSlept : .neverParked
  }

  private func latestDuration(until end: Instant) -> Duration { end - latestStart - paused }

  /// While it lasts: up to the last look.
  package var duration: DurationEstimate {
    DurationEstimate(
      likely: max(.zero, last.at - likelyStart - paused),
      atLeast: max(.zero, latestDuration(until: last.at)),
      atMost: earliestStart.map { max(.zero, last.at - $0) })
  }

  /// When `threshold` will be certain if nothing changes. A block that began just after the spell will prove it a moment
  /// later than the spell itself: that is worth waiting for.
  package func reaches(_ threshold: Duration) -> Instant {
    let certain = latestStart + paused + threshold
    guard let blockBegan, blockBegan + threshold <= certain + Self.worthWaiting else { return certain }
    return max(certain, blockBegan + threshold)
  }

  private static let worthWaiting: Duration = .milliseconds(5)

  package func hasReached(_ threshold: Duration) -> Bool { last.at >= reaches(threshold) }

  package var breakdown: TimeBreakdown { breakdown(until: last, likely: duration.likely) }

  /// The end, from the first look that finds the loop parked again.
  package func ended(by park: ThreadObservation) -> EndedSpell {
    let sleeps = park.voluntarySwitches &- last.voluntarySwitches
    let parkedSince = min(park.at, park.blockedSince ?? park.at)
    let isOnlySleep = sleeps == 1 && park.blockedSince != nil
    let work = park.cpuTime - last.cpuTime + park.runQueueDelay - last.runQueueDelay
    let earliest = isOnlySleep ? max(last.at, parkedSince - park.blockedSinceTolerance) : last.at
    let likely: Instant
    if isOnlySleep {
      likely = max(last.at, parkedSince)
    } else if last.isBlocked {
      likely = last.at + (parkedSince - last.at) / 2
    } else {
      likely = min(parkedSince, last.at + work)
    }
    let duration = DurationEstimate(
      likely: max(.zero, likely - likelyStart - paused),
      atLeast: max(.zero, earliest - latestStart - paused),
      atMost: earliestStart.map { max(.zero, max(last.at, parkedSince) - $0) })
    return EndedSpell(
      startedAt: likelyStart, duration: duration, breakdown: breakdown(until: park, likely: duration.likely))
  }

  /// CPU time and run-queue delay since the park belong to the spell, except for what short passes before it used; the
  /// rest of the time the thread was blocked.
  private func breakdown(until look: ThreadObservation, likely: Duration) -> TimeBreakdown {
    var parts = TimeBreakdown()
    parts.onCPU = min(max(.zero, look.cpuTime - base.cpuTime), likely)
    parts.runnable = min(max(.zero, look.runQueueDelay - base.runQueueDelay), likely - parts.onCPU)
    parts.blind = min(blind, likely - parts.onCPU - parts.runnable)
    parts.blocked = likely - parts.onCPU - parts.runnable - parts.blind
    parts.stopped = paused
    return parts
  }
}

/// What is known of a spell once it is over.
package struct EndedSpell: Sendable, Equatable {
  package var startedAt: Instant
  package var duration: DurationEstimate
  package var breakdown: TimeBreakdown
}
