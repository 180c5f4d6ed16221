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
    let atLeast = max(.zero, last.at - latestStart - paused)
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
    let likely = max(.zero, end - start - paused)
    let duration = DurationEstimate(
      likely: likely, atLeast: proof.isOneStretch ? min(stretch, likely) : atLeast,
      atMost: earliestStart.map { max(.zero, latestEnd - $0) })
    return SpellExtent(
      startedAt: start, duration: duration, proof: proof, breakdown: breakdown(until: look, likely: likely))
  }

  /// When `threshold` will be certain if nothing changes. A block or a quiet stretch that began just after the spell will
  /// prove it a moment later than the spell itself: that is worth waiting for.
  package func reaches(_ threshold: Duration) -> Instant {
    let certain = latestStart + paused + threshold
    if let quietSince = quiet.since, quietSince + quiet.paused <= latestStart + paused + threshold / 10 {
      return max(certain, quietSince + quiet.paused + threshold)
    }
    guard let blockBegan, blockBegan + threshold <= certain + Self.worthWaiting else { return certain }
    return max(certain, blockBegan + threshold)
  }

  private static let worthWaiting: Duration = .milliseconds(5)

  package func hasReached(_ threshold: Duration) -> Bool { last.at >= reaches(threshold) }

  /// The end, from the first look that finds the loop parked again.
  package func ended(by park: ThreadObservation, threshold: Duration) -> SpellExtent {
    let sleeps = park.voluntarySwitches &- last.voluntarySwitches
    let parkedSince = min(park.at, park.blockedSince ?? park.at)
    let isQuiet = park.passes?.isQuiet(since: last.at) ?? false
    // The sleep that this look sees is the park, and the first one.
    let isFirstPark = (sleeps == 1 || isQuiet) && park.blockedSince != nil
    let work = park.cpuTime - last.cpuTime + park.runQueueDelay - last.runQueueDelay
    // A pass before it is the end all the same.
    let latest = max(last.at, min(parkedSince, park.passes?.firstPass ?? parkedSince))
    let earliest =
      isFirstPark ? min(latest, max(last.at, parkedSince - park.blockedSinceTolerance)) : last.at
    let likely: Instant
    if isFirstPark {
      likely = latest
    } else if last.isBlocked {
      likely = last.at + (latest - last.at) / 2
    } else {
      likely = min(latest, last.at + work)
    }
    let block =
      sleeps == 1 && isFirstPark ? max(longestBlock, lastBlock(until: earliest - work)) : longestBlock
    return ended(between: earliest, likely, and: latest, by: park, threshold: threshold, block: block)
  }

  /// The end, from a look that finds other work, since the loop has come round.
  package func ended(byPassBefore look: ThreadObservation, threshold: Duration) -> SpellExtent {
    let pass = min(look.at, max(last.at, look.passes?.firstPass ?? look.at))
    let sleeps = look.voluntarySwitches &- last.voluntarySwitches
    // It did not park before it passed, and that is when the work was over.
    let isExact = look.passes?.source == .breakpoint && sleeps <= (look.isBlocked ? 1 : 0)
    let work = look.cpuTime - last.cpuTime + look.runQueueDelay - last.runQueueDelay
    let likely = isExact ? pass : last.isBlocked ? last.at + (pass - last.at) / 2 : min(pass, last.at + work)
    return ended(
      between: isExact ? pass : last.at, likely, and: pass, by: look, threshold: threshold,
      block: longestBlock)
  }

  private func ended(
    between earliest: Instant, _ likely: Instant, and latest: Instant, by look: ThreadObservation,
    threshold: Duration, block: Duration
  ) -> SpellExtent {
    let atLeast = max(.zero, earliest - latestStart - paused)
    let quietTime = quiet.longest(until: earliest)
    let proof = proof(for: threshold, block: block, quiet: quietTime, atLeast: atLeast)
    return extent(
      from: proof == .none ? firstLikelyStart : likelyStart, to: likely, latestEnd: latest, by: look,
      atLeast: atLeast, proof: proof, stretch: proof.isOneBlock ? block : quietTime)
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
