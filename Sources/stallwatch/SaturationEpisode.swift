// What is known of the saturation that is being told: its stacks, and from them the share of each handler.

internal import Diagnosis
internal import Recordings
internal import Stacks
internal import StallCore

struct SaturationEpisode {
  private(set) var shares = HandlerShares()
  /// The newest one that has frames.
  private(set) var stack: Stack?
  private var pending: [(stack: PendingStack, weight: Duration)] = []
  /// Since they were last taken.
  fileprivate var named: [RecordedStack] = []

  /// Each holds two descriptors.
  private static let mostPending = 16

  /// A sample too many counts without its stack: an analyst that is behind does not catch up by getting more.
  mutating func take(
    _ thread: CapturedThread, weight: Duration, loop: [FunctionIdentity], _ analyst: StackAnalyst
  ) {
    if !loop.isEmpty { shares.knownLoop = loop }
    if pending.count == Self.mostPending {
      let (newest, weight) = pending.removeLast()
      analyst.forget(newest)
      shares.addUnknown(weight: weight)
    }
    pending.append((analyst.ask(thread), weight))
  }

  /// Waits for the stacks of all samples until then.
  mutating func proceed(_ rules: LoopRules, _ analyst: StackAnalyst, until end: Instant) {
    while let oldest = pending.first {
      let (newest, isFinal) = analyst.stack(of: oldest.stack, within: max(.zero, end - .now))
      if !newest.frames.isEmpty || stack == nil { stack = newest }
      if !isFinal { break }
      shares.add(newest, weight: oldest.weight, rules)
      named.append(RecordedStack(at: oldest.stack.thread.at, stack: newest, cause: nil))
      pending.removeFirst()
    }
  }

  /// Whatever is still in the making is not wanted any more.
  func end(_ analyst: StackAnalyst) { pending.forEach { analyst.forget($0.stack) } }
}

/// Those that are going on, one of each saturated thread, and what all add up to.
struct SaturationLog {
  private var episodes: [Int: SaturationEpisode] = [:]
  private(set) var totals = SaturationTotals()
  private var named: [RecordedStack] = []

  /// The samples that were named since the last call.
  mutating func takeNamed() -> [RecordedStack] {
    defer { named = [] }
    return named
  }

  mutating func take(
    _ id: Int, _ thread: CapturedThread, weight: Duration, loop: [FunctionIdentity], _ rules: LoopRules,
    _ analyst: StackAnalyst
  ) {
    var episode = episodes[id] ?? SaturationEpisode()
    episode.proceed(rules, analyst, until: .now)
    episode.take(thread, weight: weight, loop: loop, analyst)
    episodes[id] = takeNamed(from: episode)
  }

  /// All that is known of it by now.
  mutating func tell(
    _ saturation: Saturation, _ rules: LoopRules, _ analyst: StackAnalyst, until end: Instant
  ) -> SaturationEpisode {
    var episode = episodes[saturation.id] ?? SaturationEpisode()
    episode.proceed(rules, analyst, until: end)
    episode = takeNamed(from: episode)
    episodes[saturation.id] = saturation.state == .ongoing ? episode : nil
    if saturation.state != .ongoing {
      episode.end(analyst)
      totals.add(saturation.duration.likely)
    }
    return episode
  }

  private mutating func takeNamed(from episode: SaturationEpisode) -> SaturationEpisode {
    var episode = episode
    named += episode.named
    episode.named = []
    return episode
  }
}
