// What an answer from outside tells of the loop of one thread.

/// An answer shows that the loop came round after the question, if this thread is the one that answers. One that did not
/// move meanwhile is not.
package struct ProbeSight: Sendable {
  private var used: ProbeExchange?
  /// Another thread answers: nothing is concluded from then on.
  package private(set) var isOfAnother = false

  package init() {}

  /// At a look. `last` is the look before.
  package mutating func passes(
    in facts: ProbeFacts, at look: ThreadObservation, after last: ThreadObservation?
  ) -> PassSight? {
    guard let exchange = facts.last, !isOfAnother else { return nil }
    let isNew = exchange != used
    used = exchange
    if isNew, let last, last.at <= exchange.sent, look.hasNotMoved(since: last) {
      isOfAnother = true
      return nil
    }
    // Before the look before this one it is old news.
    let isSince = isNew && last.map { exchange.answered > $0.at } ?? true
    return PassSight(
      source: .probe, firstPass: isSince ? exchange.answered : nil, lastPass: exchange.answered,
      lastPassAfter: exchange.sent)
  }
}
