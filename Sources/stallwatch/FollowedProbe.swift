// What questions from outside show of one followed thread.

internal import Reports
internal import StallCore

struct FollowedProbe {
  private var sight = ProbeSight()
  /// As they stood at the last look; nil: nobody is asked.
  private var facts: ProbeFacts?

  mutating func take(_ context: WatchContext, at moment: Instant) {
    facts = context.takeProbeFacts(at: moment)
  }

  mutating func passes(
    at look: ThreadObservation, after last: ThreadObservation?, _ thread: ThreadRecord,
    _ context: WatchContext
  ) -> PassSight? {
    guard let facts else { return nil }
    let wasOfAnother = sight.isOfAnother
    let passes = sight.passes(in: facts, at: look, after: last)
    if sight.isOfAnother, !wasOfAnother {
      context.tell(
        .probeForeign,
        "\(thread.spokenAsFollowed) does not answer the probe: nothing of its loop is concluded from that")
    }
    return passes
  }

  func tell(of stall: inout Stall, at moment: Instant) {
    if let facts { stall.put(facts, at: moment) }
  }
}
