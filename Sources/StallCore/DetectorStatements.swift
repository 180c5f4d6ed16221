// What a detector says of a spell, and counts, once that is over or to be told.

extension StallDetector {
  func finish(_ extent: SpellExtent, id: Int) -> StallAction {
    statistics.count(extent.duration.likely, isVerified: extent.proof.isCertain)
    statistics.countSpell(atLeast: extent.duration.atLeast)
    return .report(statement(.ended, extent, id: id))
  }

  func cutOff(_ reason: Interruption, id: Int) -> StallAction {
    let extent = spell.extent(for: episodeTerms.threshold)
    statistics.count(extent.duration.likely, isVerified: extent.proof.isCertain)
    statistics.countSpell(atLeast: extent.duration.atLeast)
    return .report(statement(.interrupted(reason), extent, id: id))
  }

  /// A spell that ended before a look could be certain of it: a stall after all, a doubtful one, or a near miss.
  func finishUnreported(_ extent: SpellExtent) -> StallAction {
    if extent.proof != .none { return finish(extent, id: newEpisode()) }
    statistics.countSpell(atLeast: extent.duration.atLeast)
    if extent.duration.likely >= limit {
      statistics.countDoubtful()
      return .report(statement(.ended, extent, id: newEpisode()))
    }
    if extent.duration.likely < threshold { statistics.countNearMiss(extent.duration.likely) }
    return .none
  }

  func newEpisode() -> Int {
    episodes += 1
    episodeTerms = terms
    return episodes
  }

  func statement(_ stallState: StallState, _ extent: SpellExtent, id: Int) -> Stall {
    var stall = Stall(
      id: id, state: stallState, threshold: episodeTerms.threshold, startedAt: extent.startedAt,
      duration: extent.duration,
      proof: extent.proof, breakdown: extent.breakdown)
    stall.phase = episodeTerms.phase
    return stall
  }
}
