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
  private let firstLikelyStart: Instant
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
  /// Only the kinds of its waits could be seen.
  private var isSeenByKind = false
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
    if case .blockedByKind = look.activity { isSeenByKind = true }
    blockBegan = look.isBlocked ? max(look.blockedSince ?? look.at, latestStart) : nil
    measureBlock(until: look.at)
  }

  private mutating func measureBlock(until moment: Instant) {
    if let blockBegan { longestBlock = max(longestBlock, moment - blockBegan) }
  }

  /// How it is known that the loop did not come round for `threshold`.
  private func proof(for threshold: Duration, block: Duration, atLeast: Duration) -> PassProof {
    if block >= threshold { return isSeenByKind ? .otherKind : .didNotMove }
    if atLeast < threshold { return .none }
    return neverSlept ? .neverSlept : .neverParked
  }

  /// Up to the last look.
  package func extent(for threshold: Duration) -> SpellExtent {
    let atLeast = max(.zero, last.at - latestStart - paused)
    return extent(
      from: likelyStart, to: last.at, latestEnd: last.at, by: last, atLeast: atLeast,
      proof: proof(for: threshold, block: longestBlock, atLeast: atLeast), block: longestBlock)
  }

  /// Where one block is all the proof there is, it is also all that is certain: the loop may have passed before and after.
  private func extent(
    from start: Instant, to end: Instant, latestEnd: Instant, by look: ThreadObservation, atLeast: Duration,
    proof: PassProof, block: Duration
  ) -> SpellExtent {
    let likely = max(.zero, end - start - paused)
    let duration = DurationEstimate(
      likely: likely, atLeast: proof.isOneBlock ? min(block, likely) : atLeast,
      atMost: earliestStart.map { max(.zero, latestEnd - $0) })
    return SpellExtent(
      startedAt: start, duration: duration, proof: proof, breakdown: breakdown(until: look, likely: likely))
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

  /// The end, from the first look that finds the loop parked again.
  package func ended(by park: ThreadObservation, threshold: Duration) -> SpellExtent {
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
    let atLeast = max(.zero, earliest - latestStart - paused)
    let block = isOnlySleep ? max(longestBlock, lastBlock(until: earliest - work)) : longestBlock
    let proof = proof(for: threshold, block: block, atLeast: atLeast)
    return extent(
      from: proof == .none ? firstLikelyStart : likelyStart, to: likely, latestEnd: max(last.at, parkedSince),
      by: park, atLeast: atLeast, proof: proof, block: block)
  }

  /// How long the block of the last look lasted, if the thread left it at that moment.
  private func lastBlock(until end: Instant) -> Duration {
    blockBegan.map { end - $0 } ?? .zero
  }

  /// CPU time and run-queue delay since the park belong to the spell, except for what short passes before it used; the
  /// rest of the time the thread was blocked.
  private func breakdown(until look: ThreadObservation, likely: Duration) -> TimeBreakdown {
    var parts = TimeBreakdown()
    parts.onCPU = min(max(.zero, look.cpuTime - base.cpuTime), likely)
    parts.onCPUInKernel = kernelShare(until: look).map { parts.onCPU * $0 }
    parts.runnable = min(max(.zero, look.runQueueDelay - base.runQueueDelay), likely - parts.onCPU)
    parts.blind = min(blind, likely - parts.onCPU - parts.runnable)
    parts.blocked = likely - parts.onCPU - parts.runnable - parts.blind
    parts.stopped = paused
    return parts
  }

  /// By the ticks of the spell; a few of them say nothing.
  private func kernelShare(until look: ThreadObservation) -> Double? {
    let user = look.userTicks &- base.userTicks
    let kernel = look.kernelTicks &- base.kernelTicks
    let (all, overflow) = user.addingReportingOverflow(kernel)
    guard !overflow, all >= 5, user <= all else { return nil }
    return Double(kernel) / Double(all)
  }
}

/// What is known of a spell so far, or in the end.
package struct SpellExtent: Sendable, Equatable {
  package var startedAt: Instant
  package var duration: DurationEstimate
  package var proof: PassProof
  package var breakdown: TimeBreakdown
}
