// Looks for the main queue of libdispatch, which after `dispatchMain()` is served now by this thread, now by that.

internal import Linux
internal import Observation
internal import Reports
internal import StallCore

struct MainQueueSearch {
  enum Finding {
    case queue(FollowedThread)
    /// The program uses libdispatch, and its queue cannot be seen.
    case hidden
  }

  /// It was searched in this program.
  private var searched: ImageMark?
  private var attempts = 0
  private static let mostAttempts = 3

  /// Only where the first thread waits for signals and nothing else, as libdispatch leaves it.
  mutating func find(beside first: FollowedThread, _ context: WatchContext) -> Finding? {
    guard first.waitsForSignals, first.image != searched else { return nil }
    let address: UInt64?
    do { address = try context.camera.mainQueueAddress() } catch {
      attempts += 1
      if attempts < Self.mostAttempts { return nil }
      address = nil
    }
    (searched, attempts) = (first.image, 0)
    if let address, let queue = follow(address, context) { return .queue(queue) }
    let threads = (try? ThreadList.threads(of: context.process.id)) ?? []
    let isUsed = threads.prefix(ThreadSurvey.mostThreads).contains {
      LoopThreadNames.isOfDispatchPool(ThreadSurvey.name(context.process.id, $0))
    }
    return isUsed ? .hidden : nil
  }

  /// Nil: what is there is no main queue, or one of the first thread's own.
  private func follow(_ address: UInt64, _ context: WatchContext) -> FollowedThread? {
    let process = context.process.id
    let record = ThreadRecord(threadID: process, name: ByteString(""), role: .mainQueue)
    let observer = LoopObserver(process: process, mainQueueAt: address, context.observerWay)
    let queue = FollowedThread(record, context, observer: observer)
    queue.look(dueAt: .now)
    return queue.missedLooks == 0 && queue.worker != process ? queue : nil
  }
}
