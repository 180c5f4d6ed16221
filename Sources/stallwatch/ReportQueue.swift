// The bounded way from the watch thread to the report thread: nobody who watches ever waits for somebody who reads.

internal import Diagnosis
internal import Linux
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
  /// What was seen of it at that moment; nil for threads that are only copied.
  var evidence: Evidence?
}

/// What the watch has to say.
enum ReportItem: Sendable {
  case attached(AttachRecord)
  case stall(Stall, CapturedThread?)
  /// A stack that could not be had when the episode was first told; for its later records.
  case lateStack(episode: Int, CapturedThread)
  case busyThread(BusyThread, CapturedThread)
  case notice(NoticeKind, String)
  case dumpedThread(CapturedThread)
  case dumpDone(DumpSummaryRecord)
  case exit(ProcessEnd)
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

  /// Beyond this the captures of older items are let go: each holds up to a megabyte and a descriptor.
  private static let mostCaptures = 64
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

  func push(_ item: ReportItem, at moment: Moment = .now) {
    state.withLock { state in
      if state.items.count >= Self.mostItems {
        state.droppedItems += 1
      } else {
        if state.items.count >= Self.mostCaptures { state.dropOldestCapture(for: item) }
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

  /// For the report thread: waits until there is something.
  func next() -> Batch {
    var poll = PollSet([itemsReady.rawValue])
    while true {
      try? poll.wait()
      itemsReady.acknowledge()
      let batch = state.withLock { state -> Batch? in
        if state.items.isEmpty, !state.isClosed { return nil }
        defer { (state.items, state.droppedCaptures, state.droppedItems) = ([], 0, 0) }
        return Batch(
          items: state.items, droppedCaptures: state.droppedCaptures, droppedItems: state.droppedItems,
          isLast: state.isClosed)
      }
      if let batch { return batch }
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
  /// The newest capture of an episode replaces an older one; else the oldest of all makes place.
  mutating func dropOldestCapture(for newest: ReportItem) {
    guard case .stall(let stall, .some) = newest else { return }
    let older = items.firstIndex {
      if case .stall(let other, .some) = $0.item { other.id == stall.id } else { false }
    }
    let oldest = items.firstIndex { if case .stall(_, .some) = $0.item { true } else { false } }
    guard let index = older ?? oldest, case .stall(let other, _) = items[index].item else { return }
    items[index].item = .stall(other, nil)
    droppedCaptures += 1
  }
}

extension Moment {
  static var now: Moment {
    let wall = Clock.wallNanoseconds
    return Moment(
      wall: WallTime(microseconds: wall / 1_000), monotonic: Instant(nanoseconds: Clock.monotonicNanoseconds))
  }
}
