// What a watch adds up to, for the last record.

internal import Linux
internal import Recordings
internal import Reports
internal import StallCore

struct WatchTotals: Sendable {
  let began: Instant
  let generation: Int
  /// What former processes of the watch have cost.
  private let ownCPUBefore: Duration
  var busyThreads = 0
  private(set) var looks = LookCount()
  private(set) var statistics = LoopStatistics()
  private(set) var phases = PhaseCounts()
  private(set) var probe: ProbeSummary?
  private(set) var responseTimes = ResponseTimes()
  private(set) var watched: Duration = .zero
  private(set) var targetStopped: Duration = .zero
  private(set) var cpuTime: Duration = .zero

  init(began: Instant, generation: Int) {
    self.began = began
    self.generation = generation
    ownCPUBefore = generation == 1 ? .zero : .nanoseconds(Clock.ownCPUNanoseconds)
  }

  /// Of a recorded watch.
  init(_ recorded: RecordedWatch, _ end: RecordedEnd?, busyThreads: Int) {
    began = recorded.startedAt
    generation = recorded.generation
    ownCPUBefore = .zero
    self.busyThreads = busyThreads
    cpuTime = end?.cpuTime ?? .zero
    targetStopped = end?.targetStopped ?? .zero
  }

  mutating func finish(
    _ statistics: LoopStatistics, _ looks: LookCount, phases: PhaseCounts, probe: ProbeSummary?,
    _ responseTimes: ResponseTimes, at end: Instant
  ) {
    self.statistics = statistics
    self.looks = looks
    self.phases = phases
    self.probe = probe
    self.responseTimes = responseTimes
    watched = end - began
  }

  /// Of a watch of our own.
  mutating func addCost(targetStopped: Duration, helperCPU: Duration) {
    self.targetStopped = targetStopped
    cpuTime = .nanoseconds(Clock.ownCPUNanoseconds) - ownCPUBefore + helperCPU
  }
}

extension SummaryRecord {
  init(
    _ totals: WatchTotals, threshold: Duration, places: PlaceLog, saturation: SaturationTotals,
    analystCPU: Duration
  ) {
    let statistics = totals.statistics
    self.init(
      generation: totals.generation, watched: totals.watched, stalls: statistics.stalls,
      suppressed: places.suppressedStalls, unverified: statistics.doubtful, saturation: saturation,
      busyThreads: totals.busyThreads, phases: totals.phases, nearMisses: statistics.nearMisses,
      suggestion: SuggestedThreshold(
        statistics.spells, stalls: statistics.stalls.count, threshold: threshold, watched: totals.watched),
      parkedShare: statistics.parkedShare, places: places.longestPlaces(10).map(PlaceSummary.init),
      probe: totals.probe,
      responses: ResponseSummary(totals.responseTimes),
      ownCost: OwnCost(
        cpuTime: totals.cpuTime + analystCPU, watched: totals.watched, looks: totals.looks.all,
        lateLooks: totals.looks.late, targetStopped: totals.targetStopped))
  }
}
