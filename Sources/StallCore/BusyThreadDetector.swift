// Finds the threads that burn more than a share of one core over a full window.

/// The CPU time of one thread at one moment. A thread id is used again; with its start time it is unique.
package struct ThreadCPUSample: Sendable {
  package var threadID: Int32
  package var startTicks: UInt64
  package var at: Instant
  package var cpuTime: Duration
  /// How often it was put on a CPU.
  package var timesScheduled: UInt64
  /// Clock ticks that found it in user mode and in the kernel.
  package var userTicks: UInt64 = 0
  package var kernelTicks: UInt64 = 0

  package init(
    threadID: Int32, startTicks: UInt64, at: Instant, cpuTime: Duration, timesScheduled: UInt64 = 0
  ) {
    self.threadID = threadID
    self.startTicks = startTicks
    self.at = at
    self.cpuTime = cpuTime
    self.timesScheduled = timesScheduled
  }
}

package struct BusyThread: Sendable, Equatable {
  package enum State: Sendable { case busy, ended }

  package var threadID: Int32
  package var state: State
  /// 100 is one core.
  package var percent: Double
  package var window: Duration
  /// How often it was put on a CPU, each second.
  package var switchesPerSecond: Double?
  /// The part of its CPU time spent in the kernel, 0…1; nil where the clock ticks are too few to tell.
  package var kernelShare: Double?

  package init(threadID: Int32, state: State, percent: Double, window: Duration) {
    (self.threadID, self.state, self.percent, self.window) = (threadID, state, percent, window)
  }

  fileprivate mutating func count(from before: ThreadCPUSample, to after: ThreadCPUSample) {
    let (switches, isBackwards) = after.timesScheduled.subtractingReportingOverflow(before.timesScheduled)
    let rate = Double(switches) / window.seconds
    // No CPU is given away more often than that.
    switchesPerSecond = isBackwards || !(rate <= 1e9) ? nil : rate
    let (user, kernel) = (after.userTicks &- before.userTicks, after.kernelTicks &- before.kernelTicks)
    let (all, overflow) = user.addingReportingOverflow(kernel)
    kernelShare = overflow || all < 10 ? nil : Double(kernel) / Double(all)
  }
}

package struct BusyThreadDetector: Sendable {
  private let thresholdPercent: Double
  private let window: Duration
  /// What the whole process had used at the last check.
  private var lastCheck: (at: Instant, cpuTime: Duration)?
  private var baseline: [Int32: ThreadCPUSample] = [:]
  private var busy: Set<Int32> = []

  /// A busy thread stays busy until it falls this far below the threshold.
  private static let hysteresisPercent = 10.0

  package init(thresholdPercent: Double, window: Duration) {
    self.thresholdPercent = thresholdPercent
    self.window = window
  }

  package var isOff: Bool { thresholdPercent <= 0 }

  package var hasBusyThreads: Bool { !busy.isEmpty }

  /// Time has passed without a check, in which no thread was busy: the next one begins anew.
  package mutating func forgetCheck() {
    lastCheck = nil
    baseline.removeAll(keepingCapacity: true)
  }

  /// How far apart the checks of the whole process are.
  package var checkInterval: Duration { window / 3 }

  /// How long to wait after the next check if it finds nothing, when one takes so long: all together they are to take no
  /// more than a two-thousandth of a core, but there is one in each window.
  package func calmInterval(costing cost: Duration) -> Duration {
    guard lastCheck != nil, baseline.isEmpty, busy.isEmpty else { return checkInterval }
    return min(max(checkInterval, cost * 2_000), window)
  }

  /// Whether any thread can be above the threshold: if the whole process used less than that, none did, and nobody needs
  /// to look at the threads. Call every `checkInterval`.
  package mutating func isScanNeeded(processCPUTime: Duration, at now: Instant) -> Bool {
    defer { lastCheck = (now, processCPUTime) }
    guard let lastCheck, now > lastCheck.at else { return false }
    let percent = (processCPUTime - lastCheck.cpuTime) / (now - lastCheck.at) * 100
    if percent < thresholdPercent, busy.isEmpty {
      baseline.removeAll(keepingCapacity: true)
      return false
    }
    return true
  }

  /// Whether the last baseline is a full window old, so that a scan now can tell something.
  package func isScanDue(at now: Instant) -> Bool {
    guard let oldest = baseline.values.first else { return true }
    return now - oldest.at >= window
  }

  /// Whether a scan now, a part of a window after the last one, can tell which threads may turn out to be busy.
  package func isSearchUseful(at now: Instant) -> Bool {
    guard let oldest = baseline.values.first else { return false }
    return now - oldest.at >= checkInterval / 2 && now - oldest.at < window
  }

  /// The threads that were busy from the last scan to this one, the busiest first, but those that were reported already.
  package func suspects(_ samples: [ThreadCPUSample]) -> [Int32] {
    let shares = samples.compactMap { sample -> (thread: Int32, share: Double)? in
      guard !busy.contains(sample.threadID), let before = baseline[sample.threadID],
        before.startTicks == sample.startTicks, sample.at > before.at
      else { return nil }
      return (sample.threadID, (sample.cpuTime - before.cpuTime) / (sample.at - before.at))
    }
    return shares.filter { $0.share * 100 >= thresholdPercent }.sorted { $0.share > $1.share }.map(\.thread)
  }

  /// Compares with the scan before; `samples` are those of all threads.
  package mutating func scan(_ samples: [ThreadCPUSample]) -> [BusyThread] {
    var events: [BusyThread] = []
    var next: [Int32: ThreadCPUSample] = [:]
    next.reserveCapacity(samples.count)
    for sample in samples {
      next[sample.threadID] = sample
      guard let before = baseline[sample.threadID], before.startTicks == sample.startTicks,
        sample.at > before.at
      else { continue }
      let elapsed = sample.at - before.at
      let percent = min(100, max(.zero, sample.cpuTime - before.cpuTime) / elapsed * 100)
      if let state = change(of: sample.threadID, percent) {
        var event = BusyThread(threadID: sample.threadID, state: state, percent: percent, window: elapsed)
        event.count(from: before, to: sample)
        events.append(event)
      }
    }
    for ended in busy where next[ended] == nil { busy.remove(ended) }
    baseline = next
    return events
  }

  private mutating func change(of threadID: Int32, _ percent: Double) -> BusyThread.State? {
    if busy.contains(threadID) {
      guard percent < thresholdPercent - Self.hysteresisPercent else { return nil }
      busy.remove(threadID)
      return .ended
    }
    guard percent >= thresholdPercent else { return nil }
    busy.insert(threadID)
    return .busy
  }
}
