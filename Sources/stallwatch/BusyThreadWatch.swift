// Looks for threads above the CPU threshold, between the looks at the loop.

internal import Linux
internal import Observation
internal import StallCore

struct BusyThreadWatch {
  private let process: Int32
  private var detector: BusyThreadDetector
  private var scanner: ThreadScanner
  private var nextCheck = Instant(nanoseconds: 0)

  init(process: Int32, thresholdPercent: Double, window: Duration) {
    self.process = process
    detector = BusyThreadDetector(thresholdPercent: thresholdPercent, window: window)
    scanner = ThreadScanner(process: process)
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
    guard let used = try? Clock.processCPUNanoseconds(process),
      detector.isScanNeeded(processCPUTime: .nanoseconds(used), at: now), detector.isScanDue(at: now),
      (try? scanner.begin()) != nil
    else { return [] }
    return scanner.proceed().map { detector.scan($0) } ?? []
  }
}
