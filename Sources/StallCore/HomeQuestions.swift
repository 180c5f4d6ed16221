// Which waits of a thread are worth a look at its stack, and how often.

/// A wait that may be the home is asked about once for each place that it is made at; the first few at once, later ones
/// ever more seldom, since each answer costs more than a minute of looking.
package struct HomeQuestions: Sendable {
  private var asked = InlineArray<32, WaitPlace?>(repeating: nil)
  private var next = 0
  private var count = 0
  private var notBefore: Instant?

  /// Asked without delay: start-up, and the loop.
  private static let mostAtOnce = 4
  private static let shortest: Duration = .seconds(15)
  private static let longest: Duration = .seconds(3_600)

  package init() {}

  /// The wait of the last look, if it is to be asked about now. It counts as asked.
  package mutating func next(in model: EventLoopModel, at moment: Instant) -> Site? {
    guard model.given == nil, let site = model.presentWait?.site, site.stackPointer != 0,
      isOfInterest(model), notBefore.map({ moment >= $0 }) ?? true
    else { return nil }
    let place = WaitPlace(site)
    for index in asked.indices where asked[index] == place { return nil }
    asked[next] = place
    next = (next + 1) % asked.count
    count += 1
    if count >= Self.mostAtOnce { notBefore = moment + distance }
    return site
  }

  /// The thread had moved on: the wait can be asked about again.
  package mutating func takeBack(_ site: Site) {
    let place = WaitPlace(site)
    for index in asked.indices where asked[index] == place { asked[index] = nil }
  }

  /// Doubles with each question.
  private var distance: Duration {
    min(Self.shortest * (1 << min(count - Self.mostAtOnce, 12)), Self.longest)
  }

  /// The home from a new place may be a dialog, or an answer that comes through the same socket. Another wait is of
  /// interest only if the thread comes back to it, or as long as nothing is judged.
  private func isOfInterest(_ model: EventLoopModel) -> Bool {
    guard let wait = model.presentWait else { return false }
    return wait.isHome || wait.candidate.wasReturnedTo || !model.isJudgeable
  }
}
