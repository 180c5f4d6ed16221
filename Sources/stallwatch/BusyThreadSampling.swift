// Samples of the threads that may turn out to be busy, over the rest of the window in which that is decided.

internal import Linux
internal import Reports
internal import Stacks
internal import StallCore

struct BusyThreadSampling {
  private var threads: [SampledThread] = []
  private var nextTaking = Instant(nanoseconds: 0)
  private var refusals = RetrySpacing()

  /// Each takes memory for some seconds of samples, here and in the kernel.
  static let mostThreads = 4
  /// How often samples are taken out; the kernel has room for twice as many.
  static let interval: Duration = .milliseconds(100)

  var isOn: Bool { !threads.isEmpty }

  mutating func begin(_ suspects: [Int32], at now: Instant) {
    guard refusals.isDue(at: now) else { return }
    for thread in suspects.prefix(Self.mostThreads) {
      do throws(Errno) { threads.append(try SampledThread(thread)) } catch {
        if error.meansNotAllowed { return refusals.refuse(at: now) }
      }
    }
    refusals = RetrySpacing()
    nextTaking = now + Self.interval
  }

  /// Call at every look.
  mutating func proceed(at now: Instant) {
    guard isOn, now >= nextTaking else { return }
    nextTaking = now + Self.interval
    for thread in threads { thread.take() }
  }

  /// What was sampled of a thread, of which nothing more is wanted.
  mutating func finish(_ thread: ThreadRecord) -> SampledStretch? {
    guard let index = threads.firstIndex(where: { $0.id == thread.threadID }) else { return nil }
    let sampled = threads.remove(at: index)
    sampled.take()
    var stretch = SampledStretch(thread)
    for batch in sampled.batches {
      stretch.runs.append(SampledStretch.Run(batch: batch, eachSample: sampled.distance))
      stretch.unseen += sampled.distance * batch.lost
    }
    return stretch.isEmpty ? nil : stretch
  }

  mutating func end() { threads = [] }

  /// An event cannot lie in an array.
  private final class SampledThread {
    let id: Int32
    private var sampler: StackSampler
    private(set) var batches: [SampleBatch] = []

    init(_ thread: Int32) throws(Errno) {
      id = thread
      sampler = try StackSampler(thread: thread, distance: SampleSpacing.shortest, looksApart: interval)
    }

    var distance: Duration { sampler.distance }

    func take() {
      let batch = sampler.take()
      if batch.count + batch.lost > 0 { batches.append(batch) }
    }
  }
}
