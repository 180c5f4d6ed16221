// What a watch saw in all, and what it cost: the last record.

package import StallCore

/// All stalls of one place.
package struct PlaceSummary: Sendable, Encodable {
  let fingerprint: String
  let place: EscapedText
  let placeBytes: ExactBytes?
  let count: Int
  let total: Milliseconds
  let cause: CauseKind?

  package init(_ totals: PlaceTotals) {
    fingerprint = totals.fingerprint.text
    place = EscapedText(totals.name)
    placeBytes = ExactBytes(totals.name)
    count = totals.count
    total = Milliseconds(totals.time)
    cause = totals.cause
  }

  private enum CodingKeys: String, CodingKey {
    case fingerprint, place
    case placeBytes = "place_bytes"
    case count
    case total = "total_ms"
    case cause
  }
}

/// What watching took from the machine and from the target.
package struct OwnCost: Sendable, Encodable {
  let cpuTime: Milliseconds
  let cpuPercent: Percent?
  let looks: Int
  let lateLooks: Int
  let targetStopped: Int64

  /// - Parameters:
  ///   - cpuTime: of stallwatch and its children.
  ///   - targetStopped: sum over all captures.
  package init(cpuTime: Duration, watched: Duration, looks: Int, lateLooks: Int, targetStopped: Duration) {
    self.cpuTime = Milliseconds(cpuTime)
    cpuPercent = Percent(cpuTime, of: watched)
    self.looks = looks
    self.lateLooks = lateLooks
    self.targetStopped = targetStopped.wholeMicroseconds
  }

  private enum CodingKeys: String, CodingKey {
    case cpuTime = "cpu_ms"
    case cpuPercent = "cpu_percent"
    case looks
    case lateLooks = "late_looks"
    case targetStopped = "target_stopped_us"
  }
}

extension SuggestedThreshold: Encodable {
  private enum CodingKeys: String, CodingKey {
    case threshold = "threshold_ms"
    case stalls
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(Milliseconds(threshold), forKey: .threshold)
    try container.encode(stalls, forKey: .stalls)
  }
}

/// How many phases took too long as a whole.
struct PhaseCountRecord: Sendable, Encodable {
  let launch: Int
  let suspend: Int
  let quit: Int

  init(_ counts: PhaseCounts) { (launch, suspend, quit) = (counts.launch, counts.suspend, counts.quit) }
}

/// How long a loop took to answer wake-ups of ours.
package struct ResponseSummary: Sendable, Encodable {
  let count: Int
  let median: Milliseconds
  let percentile99: Milliseconds
  let longest: Milliseconds

  /// Nil if there was none.
  package init?(_ times: ResponseTimes) {
    let sorted = times.sorted
    guard !sorted.isEmpty else { return nil }
    count = times.count
    median = Milliseconds(nearestRank(50, of: sorted))
    percentile99 = Milliseconds(nearestRank(99, of: sorted))
    longest = Milliseconds(times.longest)
  }

  private enum CodingKeys: String, CodingKey {
    case count
    case median = "p50_ms"
    case percentile99 = "p99_ms"
    case longest = "longest_ms"
  }
}

/// The smallest value that at least that share of all values, of which there is one, does not exceed.
private func nearestRank(_ share: Int, of sorted: [Duration]) -> Duration {
  sorted[(sorted.count * share + 99) / 100 - 1]
}

package struct SummaryRecord: Sendable, Encodable {
  let generation: Int
  let watched: Milliseconds
  let stalls: Int
  let suppressed: Int
  let unverified: Int
  let saturations: Int
  let saturated: Milliseconds
  let busyThreads: Int
  let total: Milliseconds
  let longest: Milliseconds?
  let median: Milliseconds?
  let percentile95: Milliseconds?
  let phases: PhaseCountRecord
  let nearMisses: [Milliseconds]
  let suggestion: SuggestedThreshold?
  let parked: Percent?
  let places: [PlaceSummary]
  let probe: ProbeSummary?
  let responses: ResponseSummary?
  let ownCost: OwnCost

  /// - Parameters:
  ///   - generation: which process of that name it was, from 1.
  ///   - stalls: counts of all, and the likely durations of those that the percentiles are taken of.
  ///   - suppressed: how many of the stalls are in no other record.
  ///   - unverified: number of `unverified` episodes, which are not among `stalls`.
  ///   - phases: launches, suspensions and ends that took too long, which are not among `stalls`.
  ///   - nearMisses: the longest working spells below the threshold, longest first.
  ///   - parkedShare: of the time in which it was known what the loop did, 0…1; nil without a loop.
  ///   - places: most time first.
  ///   - responses: to `--ping`; nil without any.
  package init(
    generation: Int = 1, watched: Duration, stalls: StallTotals, suppressed: Int = 0, unverified: Int,
    saturation: SaturationTotals = SaturationTotals(), busyThreads: Int, phases: PhaseCounts = PhaseCounts(),
    nearMisses: [Duration],
    suggestion: SuggestedThreshold? = nil, parkedShare: Double?, places: [PlaceSummary],
    probe: ProbeSummary? = nil, responses: ResponseSummary? = nil, ownCost: OwnCost
  ) {
    let sorted = stalls.durations.sorted()
    self.generation = generation
    self.watched = Milliseconds(watched)
    self.stalls = stalls.count
    self.suppressed = suppressed
    self.unverified = unverified
    saturations = saturation.count
    saturated = Milliseconds(saturation.time)
    self.busyThreads = busyThreads
    total = Milliseconds(stalls.time)
    longest = stalls.count > 0 ? Milliseconds(stalls.longest) : nil
    median = Self.percentile(50, of: sorted)
    percentile95 = Self.percentile(95, of: sorted)
    self.phases = PhaseCountRecord(phases)
    self.nearMisses = nearMisses.map { Milliseconds($0) }
    self.suggestion = suggestion
    parked = parkedShare.map { Percent($0 * 100) }
    self.places = places
    self.probe = probe
    self.responses = responses
    self.ownCost = ownCost
  }

  /// Nil for fewer than two values, where it would only repeat them.
  private static func percentile(_ share: Int, of sorted: [Duration]) -> Milliseconds? {
    guard sorted.count >= 2 else { return nil }
    return Milliseconds(nearestRank(share, of: sorted))
  }

  private enum CodingKeys: String, CodingKey {
    case generation
    case watched = "watched_ms"
    case stalls
    case suppressed = "suppressed_stalls"
    case unverified, saturations
    case saturated = "total_saturated_ms"
    case busyThreads = "busy_threads"
    case total = "total_stalled_ms"
    case longest = "longest_ms"
    case median = "p50_ms"
    case percentile95 = "p95_ms"
    case phases = "slow_phases"
    case nearMisses = "near_misses_ms"
    case suggestion = "suggested_threshold"
    case parked = "parked_percent"
    case places
    case probe
    case responses = "ping_responses"
    case ownCost = "own_cost"
  }
}
