// What probes from outside have shown: answers, how long they took, and what that tells of the loop.

/// One question and its answer.
package struct ProbeExchange: Sendable, Equatable {
  package var sent: Instant
  package var answered: Instant

  package init(sent: Instant, answered: Instant) {
    self.sent = sent
    self.answered = answered
  }
}

/// What became of a question, as it happens.
package struct ProbeEvent: Sendable, Equatable {
  package enum Kind: Sendable, Equatable {
    case sent, answered, failed
  }

  package var kind: Kind
  package var at: Instant

  package init(_ kind: Kind, at moment: Instant) { (self.kind, at) = (kind, moment) }
}

/// How long the program took to answer about some time.
package enum ProbeWait: Sendable, Equatable {
  case answered(after: Duration)
  /// So long so far.
  case unanswered(for: Duration)
}

/// The newest, for a look: cheap to copy.
package struct ProbeFacts: Sendable {
  /// A question that is out since then.
  package fileprivate(set) var pendingSince: Instant?
  package private(set) var last: ProbeExchange?
  /// The newest ones: after a late answer the next question is out at once, and may be answered before anybody looks.
  private var recent = InlineArray<8, ProbeExchange?>(repeating: nil)
  private var next = 0

  package init() {}

  fileprivate mutating func keep(_ exchange: ProbeExchange) {
    last = exchange
    recent[next] = exchange
    next = (next + 1) % recent.count
  }

  /// Of the questions that were out during the time between, the one that took longest, as far as they are kept. Nil: none.
  package func wait(from start: Instant, to end: Instant, now: Instant) -> ProbeWait? {
    if let pendingSince, pendingSince <= end { return .unanswered(for: max(.zero, now - pendingSince)) }
    var longest: Duration?
    for index in recent.indices {
      guard let exchange = recent[index], exchange.sent <= end, exchange.answered >= start else { continue }
      longest = max(longest ?? .zero, exchange.answered - exchange.sent)
    }
    return longest.map { .answered(after: $0) }
  }
}

extension Stall {
  /// Of the questions that were out meanwhile, as they stood at a moment.
  package mutating func put(_ facts: ProbeFacts, at now: Instant) {
    probe = facts.wait(from: startedAt, to: startedAt + duration.likely, now: now)
  }
}

package struct ProbeLog: Sendable {
  package private(set) var facts = ProbeFacts()
  package private(set) var answers = 0
  /// Refused, broken off, or without an answer for as long as one waits.
  package private(set) var failures = 0
  package private(set) var longest: Duration = .zero
  private var times = DurationClasses()

  package init() {}

  package mutating func take(_ event: ProbeEvent) {
    switch event.kind {
    case .sent: send(at: event.at)
    case .answered: answer(at: event.at)
    case .failed: fail()
    }
  }

  package mutating func send(at moment: Instant) { facts.pendingSince = moment }

  package mutating func answer(at moment: Instant) {
    guard let sent = facts.pendingSince else { return }
    facts.pendingSince = nil
    facts.keep(ProbeExchange(sent: sent, answered: moment))
    answers += 1
    longest = max(longest, moment - sent)
    times.add(moment - sent)
  }

  package mutating func fail() {
    facts.pendingSince = nil
    failures += 1
  }

  /// By nearest rank, at most a sixteenth above the truth. Nil without answers.
  package func percentile(_ share: Int) -> Duration? { times.percentile(share).map { min($0, longest) } }
}

/// Counts durations in classes, sixteen to a doubling, from a microsecond to a day.
struct DurationClasses: Sendable {
  private static let perDoubling = 16
  private static let doublings = 37
  private var counts = [Int](repeating: 0, count: perDoubling * doublings)
  private var all = 0

  mutating func add(_ duration: Duration) {
    counts[Self.index(UInt64(clamping: duration.nanoseconds / 1_000))] += 1
    all += 1
  }

  /// The upper bound of the class that holds the value of that rank.
  func percentile(_ share: Int) -> Duration? {
    guard all > 0 else { return nil }
    var left = max(1, (all * share + 99) / 100)
    for (index, count) in counts.enumerated() {
      left -= count
      if left <= 0 { return .microseconds(Self.upperBound(index)) }
    }
    return nil
  }

  /// The position of the highest bit, and the four bits after it.
  private static func index(_ microseconds: UInt64) -> Int {
    let value = max(16, microseconds)
    let exponent = 63 - value.leadingZeroBitCount
    let index = (exponent - 4) * perDoubling + Int(value >> (exponent - 4)) - 16
    return min(index, perDoubling * doublings - 1)
  }

  private static func upperBound(_ index: Int) -> Int64 {
    Int64(16 + index % perDoubling + 1) << Int64(index / perDoubling)
  }
}
