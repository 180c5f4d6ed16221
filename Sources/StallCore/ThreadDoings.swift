// What the threads of a process do at one moment, in a few words.

package struct ThreadDoings {
  private var counts: [(doing: String, count: Int)] = []

  /// Nil for no threads.
  package init?(_ glances: [ThreadGlance]) {
    if glances.isEmpty { return nil }
    for glance in glances {
      let doing = glance.wait?.doing ?? "run or do other things"
      if let index = counts.firstIndex(where: { $0.doing == doing }) {
        counts[index].count += 1
      } else {
        counts.append((doing, 1))
      }
    }
    counts.sort { ($1.count, $0.doing) < ($0.count, $1.doing) }
  }

  /// "12 wait to be woken, 2 sleep"; the commonest first.
  package var sentence: String { counts.map { "\($0.count) \($0.doing)" }.joined(separator: ", ") }
}

extension WaitKind {
  fileprivate var doing: String {
    switch self {
    case .epoll, .poll, .ring: "wait for events"
    case .accept, .input, .message: "wait for input"
    case .children: "wait for children"
    case .signal: "wait for signals"
    case .futex: "wait to be woken"
    case .sleep: "sleep"
    case .other, .mainQueue, .unseen: "wait for something else"
    }
  }
}
