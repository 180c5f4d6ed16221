// Looks for threads above the CPU threshold, between the looks at the loop.

internal import Linux
internal import Observation
internal import StallCore

struct BusyThreadWatch: ~Copyable {
  private let process: Int32
  private let thresholdPercent: Double
  private var detector: BusyThreadDetector
  private var scanner: ThreadScanner
  private var nextCheck = Instant(nanoseconds: 0)
  private var machine: MachineIdleTime?
  private var lastIdle: (at: Instant, time: Duration)?
  /// What it took to read the CPU time of the process: the kernel adds up its threads.
  private var cost: Duration = .zero

  /// Above this it pays to look first whether the machine as a whole has done so much.
  private static let costlyReading: Duration = .microseconds(100)

  init(process: Int32, thresholdPercent: Double, window: Duration) {
    self.process = process
    self.thresholdPercent = thresholdPercent
    detector = BusyThreadDetector(thresholdPercent: thresholdPercent, window: window)
    scanner = ThreadScanner(process: process)
    machine = try? MachineIdleTime()
  }

  /// A scan is under way: come back soon.
  var isScanning: Bool { scanner.isScanning }

  /// Call at every look; most calls do nothing.
  mutating func proceed(at now: Instant) -> [BusyThread] {
    if scanner.isScanning {
      return scanner.proceed().map { detector.scan($0) } ?? []
    }
    guard !detector.isOff, now >= nextCheck else { return [] }
    nextCheck = now + detector.checkInterval
    guard isWorthReading(at: now) else {
      detector.forgetCheck()
      return []
    }
    guard let used = readCPUTime(), detector.isScanNeeded(processCPUTime: used, at: now),
      detector.isScanDue(at: now), (try? scanner.begin()) != nil
    else { return [] }
    return scanner.proceed().map { detector.scan($0) } ?? []
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
