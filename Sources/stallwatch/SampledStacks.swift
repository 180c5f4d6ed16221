// The samples of one thread on their way through the analyst, and what has come of them.

internal import Diagnosis
internal import Linux
internal import Reports
internal import Stacks
internal import StallCore

struct SampledStacks {
  /// Of all that are named by now.
  private var named = StackShares()
  private var waiting: [Waiting] = []
  /// How many of those were asked about.
  private var taken = 0
  private var asked: [Asked] = []
  /// Whose stacks may stand for others.
  private var answered: [UInt64: StackPath] = [:]
  private let series: UInt64
  /// More time for copies that are still on their way.
  private var times: [Int: Duration] = [:]
  private var paths: [Int: StackPath] = [:]
  /// What was known of the thread when it was copied.
  private var evidence: [StackPath: Evidence] = [:]
  /// For samples, which come without.
  private var maps: SealedBytes?
  /// A copy of the whole stack, for the outer frames of samples.
  private var base: RawCapture?
  private var wholeStack: ThreadSnapshot?
  /// When the first of them was taken.
  private(set) var firstAt: Instant?

  private enum Waiting {
    case sample(StackSample, ThreadRecord, weight: Duration)
    case copy(CapturedThread)

    var weight: Duration { if case .sample(_, _, let weight) = self { weight } else { .zero } }
  }

  private struct Asked {
    var stack: PendingStack
    var weight: Duration
    var count: Int

    var kernelPart: KernelPart { .addresses((try? stack.thread.result.get())?.kernelAddresses ?? []) }
  }

  /// Whatever else is asked of the analyst waits for no more than these.
  private static let mostAsked = 4
  private static let mostWaiting = 2048

  /// `series`: no other samples have this number.
  init(series: UInt64) { self.series = series }

  /// The program itself copied the thread: that serves the samples as well.
  mutating func note(_ copy: CapturedThread) {
    guard case .success(let capture) = copy.result else { return }
    if let newMaps = copy.maps { maps = newMaps }
    (base, wholeStack) = (capture, nil)
  }

  mutating func take(_ stretch: SampledStretch) {
    named.addUnknown(stretch.unseen)
    for run in stretch.runs {
      for sample in run.batch.samples {
        wait(.sample(sample, stretch.thread, weight: run.eachSample * sample.count))
      }
    }
    for copy in stretch.copies { wait(.copy(copy)) }
    for (number, weight) in stretch.times {
      if let path = paths[number] {
        named.add(weight, to: path)
      } else {
        times[number, default: .zero] += weight
      }
    }
  }

  private mutating func wait(_ item: Waiting) {
    guard waiting.count - taken < Self.mostWaiting else { return named.addUnknown(item.weight) }
    waiting.append(item)
  }

  /// Asks, and waits for answers no longer than told.
  mutating func proceed(_ analyst: StackAnalyst, until end: Instant) {
    while true {
      while asked.count < Self.mostAsked, taken < waiting.count {
        ask(waiting[taken], analyst)
        taken += 1
      }
      if taken == waiting.count { (waiting, taken) = ([], 0) }
      guard let oldest = asked.first else { return }
      guard let answer = analyst.answer(to: oldest.stack, within: max(.zero, end - .now)) else { return }
      asked.removeFirst()
      take(answer, oldest)
    }
  }

  private mutating func take(_ answer: SampleAnswer, _ asked: Asked) {
    switch answer {
    case .stack(let stack):
      let path = add(stack, asked.stack.thread, asked.weight, count: asked.count)
      if let question = asked.stack.question { answered[question] = path }
    case .sameAs(let first):
      if let path = answered[first] {
        named.add(asked.weight, to: path, samples: asked.count, asked.kernelPart)
      } else {
        named.addUnknown(asked.weight, samples: asked.count)
      }
    }
  }

  private mutating func ask(_ item: Waiting, _ analyst: StackAnalyst) {
    switch item {
    case .copy(let copy): asked.append(Asked(stack: analyst.ask(copy), weight: .zero, count: 1))
    case .sample(let sample, let thread, let weight):
      maps = maps ?? analyst.readMaps(of: thread.threadID)
      let capture = try? RawCapture(
        sample, threadID: thread.threadID, completedBy: sample.isCut ? whole() : nil)
      guard let capture, let maps else { return named.addUnknown(weight, samples: sample.count) }
      let copy = CapturedThread(
        threadID: thread.threadID, name: thread.exactName, role: thread.role, result: .success(capture),
        maps: maps, at: sample.at)
      asked.append(
        Asked(stack: analyst.ask(copy, series: series), weight: weight, count: sample.count))
    }
  }

  private mutating func whole() -> ThreadSnapshot? {
    if wholeStack == nil { wholeStack = try? base?.snapshot() }
    return wholeStack
  }

  /// A stack that is known, with its share of the time.
  @discardableResult
  mutating func add(
    _ stack: Stack, _ thread: CapturedThread, _ weight: Duration = .zero, count: Int = 1
  ) -> StackPath {
    firstAt = firstAt.map { min($0, thread.at) } ?? thread.at
    let later = thread.sample.flatMap { times.removeValue(forKey: $0) } ?? .zero
    let path = named.add(stack, weight + later, samples: count)
    if let number = thread.sample { paths[number] = path }
    if let known = thread.evidence { evidence[path] = known.completed(by: evidence[path]) }
    return path
  }

  func evidence(of stack: Stack) -> Evidence? { evidence[StackPath(stack)] }

  /// With the time of those whose stacks are not known, or not yet.
  var shares: StackShares {
    var shares = named
    for item in waiting[taken...] { shares.addUnknown(item.weight) }
    for item in asked { shares.addUnknown(item.weight) }
    for time in times.values { shares.addUnknown(time) }
    return shares
  }

  /// Whatever is still in the making is not wanted any more.
  func end(_ analyst: StackAnalyst) { asked.forEach { analyst.forget($0.stack) } }
}
