// What was sampled of a stalled thread since the report thread was last told, and for how much of the time it stands.

internal import Reports
internal import Stacks
internal import StallCore

struct SampledStretch: Sendable {
  /// Samples of the running thread. Each stands for as long.
  struct Run: Sendable {
    var batch: SampleBatch
    var eachSample: Duration
  }

  /// Whose they are.
  var thread: ThreadRecord
  var runs: [Run] = []
  /// Made of the blocked thread, each with its number.
  var copies: [CapturedThread] = []
  /// More time for copies, by their numbers.
  var times: [(copy: Int, weight: Duration)] = []
  /// Without a stack.
  var unseen: Duration = .zero

  init(_ thread: ThreadRecord) { self.thread = thread }

  var hasStacks: Bool { !runs.isEmpty || !copies.isEmpty }
  var isEmpty: Bool { !hasStacks && times.isEmpty && unseen == .zero }

  var byteCount: Int { runs.reduce(0) { $0 + $1.batch.byteCount } }

  mutating func add(_ weight: Duration, toCopy number: Int) {
    guard weight > .zero else { return }
    if let last = times.indices.last, times[last].copy == number {
      times[last].weight += weight
    } else {
      times.append((number, weight))
    }
  }

  /// Lets the stacks of running threads go, which are the most.
  mutating func dropRuns() {
    unseen = runs.reduce(unseen) { $0 + $1.eachSample * $1.batch.count }
    runs = []
  }
}
