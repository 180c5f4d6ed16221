// How many passes of a loop were seen, and how far apart they were.

internal import StallCore

/// Of those that happened while something would have seen them all; there may have been more.
struct PassCount: Sendable, Equatable {
  private(set) var seen = 0
  /// The longest time without a pass, while every pass would have been seen. At least so long, where it began unseen.
  private(set) var longestDistance: Duration = .zero

  init() {}

  mutating func add(at pass: Instant, quietSince start: Instant?) {
    seen += 1
    if let start, pass > start { longestDistance = max(longestDistance, pass - start) }
  }
}
