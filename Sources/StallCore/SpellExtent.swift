// What is known of a working spell up to a moment: its bounds, how sure it is that the loop did not pass, where the time
// went.

extension WorkingSpell {
  /// How it is known that the loop did not come round for `threshold`.
  private func proof(for threshold: Duration, block: Duration, quiet: Duration, atLeast: Duration)
    -> PassProof
  {
    if quiet >= threshold, quiet > block, let source = self.quiet.source { return PassProof(source) }
    if block >= threshold { return isSeenByKind ? .otherKind : .didNotMove }
    if atLeast < threshold { return .none }
    return neverSlept ? .neverSlept : .neverParked
  }

  /// Up to the last look.
  package func extent(for threshold: Duration) -> SpellExtent {
    let atLeast = max(.zero, certain.at - latestStart - paused - edges)
    let proof = proof(for: threshold, block: longestBlock, quiet: quiet.longest, atLeast: atLeast)
    return extent(
      from: likelyStart, to: last.at, latestEnd: last.at, by: last, atLeast: atLeast, proof: proof,
      stretch: proof.isOneBlock ? longestBlock : quiet.longest)
  }

  /// Where one block, or one stretch without a pass, is all the proof there is, it is also all that is certain: the loop
  /// may have passed before and after.
  private func extent(
    from start: Instant, to end: Instant, latestEnd: Instant, by look: ThreadObservation, atLeast: Duration,
    proof: PassProof, stretch: Duration
  ) -> SpellExtent {
    let sure = proof.isOneStretch ? stretch : atLeast
    let likely = max(sure, end - start - paused - edges / 2)
    let duration = DurationEstimate(
      likely: likely, atLeast: sure, atMost: earliestStart.map { max(likely, latestEnd - $0 - paused) })
    return SpellExtent(
      startedAt: start, duration: duration, proof: proof, breakdown: breakdown(until: look, likely: likely))
  }

  /// When `threshold` will be certain if nothing changes. A block or a quiet stretch that began just after the spell will
  /// prove it a moment later than the spell itself: that is worth waiting for.
  package func reaches(_ threshold: Duration) -> Instant {
    let reached = latestStart + paused + edges + threshold
    if let quietSince = quiet.since, quietSince + quiet.paused <= reached - threshold + threshold / 10 {
      return max(reached, quietSince + quiet.paused + threshold)
    }
    guard let blockBegan, blockBegan + threshold <= reached + Self.worthWaiting else { return reached }
    return max(reached, blockBegan + threshold)
  }

  private static let worthWaiting: Duration = .milliseconds(5)

  package func hasReached(_ threshold: Duration) -> Bool { certain.at >= reaches(threshold) }

  /// Since its latest start, whatever is proven of that.
  package var elapsed: Duration { max(.zero, last.at - latestStart - paused - edges) }

  /// The end, from the first look that finds the loop parked again.
  package func ended(by park: ThreadObservation, threshold: Duration) -> SpellExtent {
    let isQuiet = park.passes?.isQuiet(since: last.at) ?? false
    let certain = heldTo(park, isQuiet && hasLeftWait(by: park) ? last : certain)
    let sleeps = park.voluntarySwitches &- certain.voluntarySwitches
    let parkedSince = min(park.at, park.blockedSince ?? park.at)
    // The sleep that this look sees is the only one since, and the park.
    let isOnlySleep = sleeps == 1 && park.blockedSince != nil && !mayHaveSlept
    // A pass before it is the end all the same.
    let latest = max(certain.at, min(parkedSince, park.passes?.firstPass ?? parkedSince))
    let earliest =
      isOnlySleep ? min(latest, max(certain.at, parkedSince - park.blockedSinceTolerance)) : certain.at
    // It has slept elsewhere too, but came out of the loop's wait at no time: this is the first park since.
    let isFirstPark = isQuiet && park.blockedSince != nil
    let likely = isOnlySleep || isFirstPark ? latest : likelyEnd(after: certain, before: latest, park)
    let block =
      isOnlySleep
      ? max(longestBlock, lastBlock(until: earliest - work(from: certain, until: park))) : longestBlock
    // What sees passes only at looks has seen none since the last one: the loop may have come round before it parked.
    let isSeenPassing = park.passes?.firstPass != nil && park.passes?.passSource == .breakpoint
    return ended(
      between: earliest, likely, and: latest, by: park, threshold: threshold, block: block,
      quietUntil: isQuiet || isSeenPassing ? earliest : certain.at)
  }

  /// The end, from a look that finds other work, since the loop has come round.
  package func ended(byPassBefore look: ThreadObservation, threshold: Duration) -> SpellExtent {
    let certain = heldTo(look, certain)
    let pass = min(look.at, max(certain.at, look.passes?.firstPass ?? look.at))
    let sleeps = look.voluntarySwitches &- certain.voluntarySwitches
    // It did not park before it passed, and that is when the work was over.
    let isExact =
      look.passes?.passSource == .breakpoint && sleeps <= (look.isBlocked ? 1 : 0) && !mayHaveSlept
    return ended(
      between: isExact ? pass : certain.at, isExact ? pass : likelyEnd(after: certain, before: pass, look),
      and: pass, by: look, threshold: threshold, block: longestBlock,
      quietUntil: isExact ? pass : certain.at)
  }

  /// A look right after a capture may find the thread where it was, and the loop has come round nevertheless: of a pass that
  /// was seen to the microsecond the end is known.
  private func heldTo(_ look: ThreadObservation, _ certain: ThreadObservation) -> ThreadObservation {
    guard let sight = look.passes, sight.passSource == .breakpoint, let pass = sight.firstPass,
      pass < certain.at
    else { return certain }
    var certain = certain
    certain.at = max(pass, latestStart)
    return certain
  }

  /// The thread slept before it was seen to have passed, perhaps in the loop's own wait. Work that never slept until then
  /// took what it did on a CPU meanwhile; of work that sleeps, by now or by what it did before, half of the rest is taken.
  private func likelyEnd(
    after certain: ThreadObservation, before latest: Instant, _ look: ThreadObservation
  ) -> Instant {
    let worked = certain.isBlocked ? certain.at : min(latest, certain.at + work(from: certain, until: look))
    return certain.isBlocked || sleepsOften ? worked + (latest - worked) / 2 : worked
  }

  private func work(from earlier: ThreadObservation, until look: ThreadObservation) -> Duration {
    look.cpuTime - earlier.cpuTime + look.runQueueDelay - earlier.runQueueDelay
  }

  private func ended(
    between earliest: Instant, _ likely: Instant, and latest: Instant, by look: ThreadObservation,
    threshold: Duration, block: Duration, quietUntil: Instant
  ) -> SpellExtent {
    let atLeast = max(.zero, earliest - latestStart - paused - edges)
    // A look right after a capture may have been taken for the same block, which was over by then.
    let block = min(block, max(.zero, latest - latestStart))
    let quietTime = quiet.longest(until: quietUntil)
    let proof = proof(for: threshold, block: block, quiet: quietTime, atLeast: atLeast)
    return extent(
      from: proof == .none ? firstLikelyStart : likelyStart, to: likely, latestEnd: latest, by: look,
      atLeast: atLeast, proof: proof, stretch: proof.isOneBlock ? block : quietTime)
  }

  /// How long the block of the last look lasted, if the thread left it at that moment.
  private func lastBlock(until end: Instant) -> Duration {
    blockBegan.map { end - $0 - blockPaused } ?? .zero
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
    parts.stopped = paused + edges / 2
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
