// Reads the CPU time of every thread of a process, a few at a time.

package import Linux
package import StallCore

/// A scan of ten thousand threads takes a tenth of a second; done in slices it never delays the next look, and paced by
/// its own cost it never takes more than a hundredth of a core.
package struct ThreadScanner {
  private let process: Int32
  private var waiting: ArraySlice<Int32> = []
  private var samples: [ThreadCPUSample] = []
  private var spent: Duration = .zero
  private var buffer = PseudoFile.makeBuffer()
  private var notBefore = Instant(nanoseconds: 0)

  private static let slice: Duration = .milliseconds(2)
  private static let mostOwnShare = 100

  package init(process: Int32) { self.process = process }

  package var isScanning: Bool { !waiting.isEmpty }

  package mutating func begin() throws(Errno) {
    let now = Instant(nanoseconds: Clock.monotonicNanoseconds)
    guard now >= notBefore else { return }
    waiting = try ThreadList.threads(of: process)[...]
    samples = []
    spent = Instant(nanoseconds: Clock.monotonicNanoseconds) - now
  }

  /// Reads the next slice; the samples of all threads once the last slice is done.
  package mutating func proceed() -> [ThreadCPUSample]? {
    guard isScanning else { return nil }
    let began = Instant(nanoseconds: Clock.monotonicNanoseconds)
    var now = began
    while now - began < Self.slice, let thread = waiting.popFirst() {
      if let sample = try? read(thread) { samples.append(sample) }
      now = Instant(nanoseconds: Clock.monotonicNanoseconds)
    }
    spent += now - began
    guard waiting.isEmpty else { return nil }
    notBefore = now + spent * Self.mostOwnShare
    return samples
  }

  private mutating func read(_ thread: Int32) throws(Errno) -> ThreadCPUSample? {
    let directory = "/proc/\(process)/task/\(thread)/"
    let record = try PseudoFile(directory + "stat").read(into: &buffer)
    guard let stat = ThreadStat(buffer.span.extracting(first: record)) else { return nil }
    let at = Instant(nanoseconds: Clock.monotonicNanoseconds)
    let count = try PseudoFile(directory + "schedstat").read(into: &buffer)
    guard let counts = SchedulerStatistics(buffer.span.extracting(first: count)) else { return nil }
    var sample = ThreadCPUSample(
      threadID: thread, startTicks: stat.startTicks, at: at,
      cpuTime: .nanoseconds(Int64(clamping: counts.runNanoseconds)), timesScheduled: counts.timesScheduled)
    (sample.userTicks, sample.kernelTicks) = (stat.userTicks, stat.systemTicks)
    return sample
  }
}
