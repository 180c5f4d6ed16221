// The bounded way from the watch thread to the report thread: nobody who watches ever waits for somebody who reads.

internal import Diagnosis
internal import Linux
internal import Recordings
internal import Reports
internal import Stacks
internal import StallCore
internal import Synchronization

/// A thread as it was copied, with everything that explaining it needs; nothing interpreted yet.
struct CapturedThread: Sendable {
  var threadID: Int32
  var name: ByteString
  var role: ThreadRole
  /// What the capture gave, or why it gave nothing.
  var result: Result<RawCapture, CaptureFailure>
  /// The text of `maps`, unread; nil if it could not be had.
  var maps: SealedBytes?
  /// What it does in the kernel, in the kernel's words; empty where that is not known.
  var kernelStack: [UInt8] = []
  /// What was seen of it at that moment; nil for threads that are only copied.
  var evidence: Evidence?
  /// When the copy was begun.
  var at: Instant
  /// In a replay: what had become of it.
  var recorded: RecordedStack?
  /// The number by which its share of a stall's time is told.
  var sample: Int?
}

extension CapturedThread {
  /// The copy shows it off the CPU in this wait.
  func isBlocked(at site: Site) -> Bool {
    guard case .success(let copy) = result, copy.way != .perf else { return false }
    return copy.registers.stackPointer == site.stackPointer
      && copy.registers.programCounter == site.programCounter
  }
}

/// What the watch has to say.
enum ReportItem: Sendable {
  case attached(AttachRecord)
  /// What is recorded with `--record`.
  case recordingBegins(RecordedWatch)
  case looksRecorded
  /// The loop was seen at work for the first time: stacks may be wanted soon.
  case stallMayCome
  case stall(Stall, ThreadRecord, CapturedThread?)
  /// A stack that could not be had when the episode was first told; for its later records.
  case lateStack(episode: Int, CapturedThread)
  /// What was sampled of a stalled thread, for the next record of its stall.
  case samples(episode: Int, SampledStretch)
  /// Another thread, for the next record of a stall.
  case companion(CompanionKey, CapturedThread)
  /// A stack of a loop that never idles, and for how much of the time it stands. The functions of the loop itself, as far
  /// as they are known.
  case saturationSample(episode: Int, CapturedThread, weight: Duration, loop: [FunctionIdentity])
  /// After the samples that it is to speak of.
  case saturation(Saturation, ThreadRecord)
  /// With what was sampled of it over the window.
  case busyThread(BusyThread, CapturedThread, SampledStretch?)
  /// A thread in a wait whose meaning is to be found out.
  case homeStack(Site, CapturedThread)
  /// Stacks of waits are not asked for any more.
  case analystMayRest
  case notice(NoticeRecord)
  /// Threads of a dump, copied together.
  case dumpedThreads([CapturedThread])
  case dumpDone(DumpSummaryRecord)
  case exit(ExitRecord)
  case summary(WatchTotals)
  case reopenOutput
}

final class ReportQueue: Sendable {
  fileprivate struct State {
    var items: [(item: ReportItem, moment: Moment)] = []
    var droppedCaptures = 0
    var droppedItems = 0
    var isClosed = false
    var isFinished = false
    var isOutputGone = false
  }

  struct Batch {
    var items: [(item: ReportItem, moment: Moment)]
    var droppedCaptures: Int
    var droppedItems: Int
    var isLast: Bool
  }

  /// Beyond this the captures of older items are let go: each holds two descriptors. A dump on request fits in, also where
  /// every thread had to be copied alone.
  private static let mostCaptures = 300
  /// Of copied stacks, which can be more than a megabyte each.
  private static let mostStackBytes = 96 << 20
  /// Of samples that nobody has taken yet.
  private static let mostSampleBytes = 16 << 20
  /// What the report thread takes at a time.
  private static let mostInBatch = 16
  /// Beyond this items are counted and not kept.
  private static let mostItems = 10_000

  private let state = Mutex(State())
  private let itemsReady: WakeUp
  /// Raised when the report thread has finished or its output is gone.
  let news: WakeUp

  init() throws(Errno) {
    let itemsReady = try WakeUp()
    news = try WakeUp()
    self.itemsReady = itemsReady
  }

  func push(_ newItem: ReportItem, at moment: Moment = .now) {
    state.withLock { state in
      var item = newItem
      if item.sampleBytes > 0,
        state.items.reduce(item.sampleBytes, { $0 + $1.item.sampleBytes })
          > Self.mostSampleBytes
      {
        item.dropSamples()
      }
      if state.items.count >= Self.mostItems, !item.isLastWord {
        state.droppedItems += 1
      } else {
        if item.hasCapture {
          state.makeRoom(for: item, most: Self.mostCaptures, mostBytes: Self.mostStackBytes)
        }
        state.items.append((item, moment))
      }
    }
    itemsReady.raise()
  }

  /// No more items will come.
  func close() {
    state.withLock { $0.isClosed = true }
    itemsReady.raise()
  }

  /// For the report thread: waits until there is something. Nil: there is something to read from the other descriptor.
  func next(orReadable other: Int32?) -> Batch? {
    var poll = PollSet([itemsReady.rawValue] + (other.map { [$0] } ?? []))
    while true {
      if let batch = state.withLock({ $0.takeBatch(most: Self.mostInBatch) }) { return batch }
      try? poll.wait()
      if poll.isReady(0) { itemsReady.acknowledge() } else { return nil }
    }
  }

  func finish() {
    state.withLock { $0.isFinished = true }
    news.raise()
  }

  func reportOutputGone() {
    state.withLock { $0.isOutputGone = true }
    news.raise()
  }

  var isFinished: Bool { state.withLock { $0.isFinished } }
  var isOutputGone: Bool { state.withLock { $0.isOutputGone } }
}

extension ReportQueue.State {
  /// Nil if there is nothing to say and more may come.
  mutating func takeBatch(most: Int) -> ReportQueue.Batch? {
    if items.isEmpty, !isClosed { return nil }
    let taken = Array(items.prefix(most))
    items.removeFirst(taken.count)
    defer { (droppedCaptures, droppedItems) = (0, 0) }
    return ReportQueue.Batch(
      items: taken, droppedCaptures: droppedCaptures, droppedItems: droppedItems,
      isLast: isClosed && items.isEmpty)
  }

  /// The newest capture of an episode replaces an older one; else the oldest of all makes place.
  mutating func makeRoom(for newest: ReportItem, most: Int, mostBytes: Int) {
    var bytes = items.reduce(newest.stackBytes) { $0 + $1.item.stackBytes }
    var count = items.count { $0.item.hasCapture }
    while count >= most || bytes > mostBytes, let index = indexToDrop(for: newest) {
      bytes -= items[index].item.stackBytes
      count -= 1
      items[index].item.dropCapture()
      droppedCaptures += 1
    }
  }

  private func indexToDrop(for newest: ReportItem) -> Int? {
    let older = items.firstIndex { $0.item.hasCapture && $0.item.episode == newest.episode }
    return (newest.episode == nil ? nil : older) ?? items.firstIndex { $0.item.hasCapture }
  }
}

extension ReportItem {
  /// Never dropped: there is one of each, and without them nobody knows how it ended.
  fileprivate var isLastWord: Bool {
    switch self {
    case .exit, .summary: true
    default: false
    }
  }

  /// It holds descriptors.
  fileprivate var hasCapture: Bool { threads.contains { $0.stackBytes != nil } }

  fileprivate var stackBytes: Int { threads.reduce(0) { $0 + ($1.stackBytes ?? 0) } }

  fileprivate var sampleBytes: Int {
    switch self {
    case .samples(_, let stretch), .busyThread(_, _, .some(let stretch)): stretch.byteCount
    default: 0
    }
  }

  fileprivate mutating func dropSamples() {
    switch self {
    case .samples(let episode, var stretch):
      stretch.dropRuns()
      self = .samples(episode: episode, stretch)
    case .busyThread(let busy, let thread, _): self = .busyThread(busy, thread, nil)
    default: break
    }
  }

  private var threads: [CapturedThread] {
    switch self {
    case .stall(_, _, let thread): thread.map { [$0] } ?? []
    case .homeStack(_, let thread), .lateStack(_, let thread), .companion(_, let thread),
      .busyThread(_, let thread, _), .saturationSample(_, let thread, _, _):
      [thread]
    case .dumpedThreads(let threads): threads
    default: []
    }
  }

  fileprivate var episode: Int? {
    switch self {
    case .stall(let stall, _, _): stall.id
    case .lateStack(let id, _), .saturationSample(let id, _, _, _): id
    default: nil
    }
  }

  fileprivate mutating func dropCapture() {
    switch self {
    case .stall(let stall, let record, _): self = .stall(stall, record, nil)
    case .lateStack(let id, let thread): self = .lateStack(episode: id, thread.withoutStack)
    case .homeStack(let site, let thread): self = .homeStack(site, thread.withoutStack)
    case .companion(let key, let thread): self = .companion(key, thread.withoutStack)
    case .busyThread(let busy, let thread, let samples):
      self = .busyThread(busy, thread.withoutStack, samples)
    case .dumpedThreads(let threads): self = .dumpedThreads(threads.map(\.withoutStack))
    case .saturationSample(let id, let thread, let weight, let loop):
      self = .saturationSample(episode: id, thread.withoutStack, weight: weight, loop: loop)
    default: break
    }
  }
}

extension CapturedThread {
  /// Nil: it has none.
  fileprivate var stackBytes: Int? {
    if case .success(let capture) = result { capture.stackByteCount } else { nil }
  }

  fileprivate var withoutStack: CapturedThread {
    var thread = self
    if stackBytes == nil { return thread }
    (thread.result, thread.maps) = (.failure(.dropped), nil)
    return thread
  }
}

extension Instant {
  static var now: Instant { Instant(nanoseconds: Clock.monotonicNanoseconds) }
}

extension Moment {
  static var now: Moment {
    let wall = Clock.wallNanoseconds
    return Moment(
      wall: WallTime(microseconds: wall / 1_000), monotonic: Instant(nanoseconds: Clock.monotonicNanoseconds))
  }
}
