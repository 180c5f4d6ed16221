// Looks for threads above the CPU threshold, between the looks at the loop.

internal import Linux
internal import Observation
internal import Reports
internal import StallCore

struct BusyThreadWatch: ~Copyable {
  private let process: Int32
  private let thresholdPercent: Double
  private var detector: BusyThreadDetector
  private var scanner: ThreadScanner
  /// The scan that is under way is to tell who may be busy, not who is.
  private var isSearching = false
  private var sampling = BusyThreadSampling()
  /// Threads may be copied.
  private let takesStacks: Bool
  private var nextCheck = Instant(nanoseconds: 0)
  private var machine: MachineIdleTime?
  private var lastIdle: (at: Instant, time: Duration)?
  /// What it took to read the CPU time of the process: the kernel adds up its threads.
  private var cost: Duration = .zero

  /// Above this it pays to look first whether the machine as a whole has done so much.
  private static let costlyReading: Duration = .microseconds(100)

  init(process: Int32, thresholdPercent: Double, window: Duration, takesStacks: Bool) {
    self.takesStacks = takesStacks
    self.process = process
    self.thresholdPercent = thresholdPercent
    detector = BusyThreadDetector(thresholdPercent: thresholdPercent, window: window)
    scanner = ThreadScanner(process: process)
    machine = try? MachineIdleTime()
  }

  /// There is something for `proceed` to do.
  func isDue(at now: Instant) -> Bool {
    sampling.isOn || scanner.isScanning || now >= nextCheck && !detector.isOff
  }

  /// When to come back, if not at the next look.
  func nextMoment(after now: Instant) -> Instant? {
    if scanner.isScanning { return now + .milliseconds(10) }
    return sampling.isOn ? now + BusyThreadSampling.interval : nil
  }

  /// What was sampled of a thread that turned out to be busy.
  mutating func samples(of thread: ThreadRecord) -> SampledStretch? { sampling.finish(thread) }

  /// After the threads that are busy were reported.
  mutating func forgetSamples() { sampling.end() }

  /// Call when it is due.
  mutating func proceed(at now: Instant) -> [BusyThread] {
    sampling.proceed(at: now)
    if scanner.isScanning { return proceedWithScan(at: now) }
    guard !detector.isOff, now >= nextCheck else { return [] }
    nextCheck = now + detector.checkInterval
    guard isWorthReading(at: now) else {
      detector.forgetCheck()
      sampling.end()
      return []
    }
    let calmInterval = detector.calmInterval(costing: cost)
    guard let used = readCPUTime(), detector.isScanNeeded(processCPUTime: used, at: now) else {
      nextCheck = now + calmInterval
      sampling.end()
      return []
    }
    isSearching = !detector.isScanDue(at: now)
    if isSearching, sampling.isOn || !takesStacks || !detector.isSearchUseful(at: now) { return [] }
    guard (try? scanner.begin()) != nil else { return [] }
    return proceedWithScan(at: now)
  }

  private mutating func proceedWithScan(at now: Instant) -> [BusyThread] {
    guard let samples = scanner.proceed() else { return [] }
    guard isSearching else { return detector.scan(samples) }
    sampling.begin(detector.suspects(samples), at: now)
    return []
  }

  private mutating func readCPUTime() -> Duration? {
    let began = Clock.monotonicNanoseconds
    defer { cost = .nanoseconds(Clock.monotonicNanoseconds - began) }
    return (try? Clock.processCPUNanoseconds(process)).map { .nanoseconds($0) }
  }

  /// No thread of a large process can be busy while all CPUs together were busy for less.
  private mutating func isWorthReading(at now: Instant) -> Bool {
    guard cost > Self.costlyReading, !detector.hasBusyThreads, let idle = machine?.read(),
      let processors = machine?.processors
    else { return true }
    defer { lastIdle = (now, idle) }
    guard let lastIdle, now > lastIdle.at else { return true }
    let busy = Double(processors) - (idle - lastIdle.time) / (now - lastIdle.at)
    return busy * 100 >= thresholdPercent
  }
}
