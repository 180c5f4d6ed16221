// What is known of the place and the cause of the stall that is being told: its stacks, which may come late.

internal import Diagnosis
internal import Recordings
internal import StallCore

struct Episode {
  /// The newest one that the watch has copied for a record.
  private var copied: Stack?
  private var copiedAt: Instant?
  private(set) var cause: Cause?
  /// In the making: the oldest capture, and the newest one.
  private var pending: [PendingStack] = []
  private var evidence: Evidence?
  private var samples: SampledStacks
  /// What the samples have come to, as of the last call of `proceed`.
  private(set) var shares = StackShares()

  /// `number`: of no other episode that the analyst has been asked about.
  init(number: UInt64) { samples = SampledStacks(series: number) }

  /// The one that explains the stall: that with most of its time, or else the newest one.
  private(set) var stack: Stack?
  /// Of the stalled thread, heaviest first.
  var stacks: [Stack] {
    let sampled = shares.stacks
    return sampled.isEmpty ? stack.map { [$0] } ?? [] : sampled
  }
  /// When it was copied, or the last one before.
  var stackAt: Instant? { copiedAt ?? samples.firstAt }

  /// Takes a newer capture. The oldest one that is still in the making is kept, since the first stack of a large program
  /// can take longer than it takes to the next capture; what lies between is given up.
  mutating func take(_ thread: CapturedThread, _ analyst: StackAnalyst) {
    while pending.count > 1 { analyst.forget(pending.removeLast()) }
    pending.append(analyst.ask(thread))
    evidence = thread.evidence?.completed(by: evidence) ?? evidence
    samples.note(thread)
  }

  mutating func take(_ stretch: SampledStretch) { samples.take(stretch) }

  /// Of the stall so far. The first stack was copied when little of it was seen, and a quota counts when its period is over.
  mutating func take(_ surroundings: Surroundings?) {
    guard let surroundings else { return }
    evidence?.throttled = surroundings.throttled
    evidence?.throttledShare = surroundings.throttledShare
  }

  /// Waits for its stacks until then.
  mutating func proceed(_ analyst: StackAnalyst, until end: Instant) {
    takeAnswers(analyst, until: end)
    shares = samples.shares
    let heaviest = shares.heaviestFirst.first?.stack
    stack = heaviest ?? copied
    judgeCause(of: heaviest)
  }

  /// An empty stack does not take the place of one that has frames.
  mutating func takeAnswers(_ analyst: StackAnalyst, until end: Instant) {
    while let oldest = pending.first {
      let (newest, isFinal) = analyst.stack(of: oldest, within: max(.zero, end - .now))
      if !newest.frames.isEmpty || copied?.frames.isEmpty ?? true {
        (copied, copiedAt) = (newest, oldest.thread.at)
      }
      if let recorded = oldest.thread.recorded { cause = recorded.cause }
      if !isFinal { break }
      // One that stands for no time is what cut ones may be the front of.
      samples.add(newest, oldest.thread, count: oldest.thread.sample == nil ? 0 : 1)
      pending.removeFirst()
    }
    // The samples wait until the stack that a record speaks of is there.
    if pending.isEmpty { samples.proceed(analyst, until: end) }
  }

  /// What was known of the thread when it was copied there, not what it did at the end.
  private mutating func judgeCause(of heaviest: Stack?) {
    guard let newest = evidence else { return }
    var known = newest
    if let heaviest, let own = samples.evidence(of: heaviest) {
      known = own
      known.takeTotals(of: newest)
    } else if heaviest?.way == .perf {
      known.activity = .running
    }
    known.functions = stack?.frames.compactMap(\.symbol) ?? []
    cause = CauseRules.cause(of: known)
  }

  /// Whatever is still in the making is not wanted any more.
  func end(_ analyst: StackAnalyst) {
    pending.forEach(analyst.forget)
    samples.end(analyst)
  }
}
