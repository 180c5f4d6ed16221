// Raises the wake-up of another process's loop: the only code here that ever writes to what is the target's.

internal import CLinux
internal import Glibc

/// What a loop waits on.
package enum WakeUpPlace: Sendable, Equatable {
  case epoll(Int32)
  /// Of one poll(2); only if it is the whole set.
  case set([Int32])
}

/// A loop's own eventfd.
package struct WakeUpCounter: Sendable, Equatable {
  package var descriptor: Int32
  /// Which eventfd it is, whatever the descriptor may lead to by then.
  package var id: UInt64

  package init(descriptor: Int32, id: UInt64) { (self.descriptor, self.id) = (descriptor, id) }
}

/// Why a wake-up was not raised. Nothing was touched then.
package enum WakeUpRefusal: Error, Sendable, Equatable {
  /// By the kernel: without ptrace rights nobody gets another's descriptor.
  case notAllowed(Errno)
  /// What it waits on cannot be read.
  case unreadable
  case noneFound
  /// So many, and nothing tells which one is the loop's own.
  case several(Int)
  /// Nobody ever empties it, so that nobody could see it taken.
  case neverTaken
  case isSemaphore
  /// The kernel does not tell whether it is a semaphore.
  case kernelTooOld
  /// It is another file by now.
  case replaced
  /// By the program itself, and not taken yet.
  case isRaised

  /// It may be otherwise the next time.
  package var isPassing: Bool { self == .replaced || self == .isRaised }
}

package enum LoopWakeUp {
  /// What is added to the counter. The program's own wake-ups add 1 each and never so many: a count of at least this has
  /// ours in it.
  package static let amount: UInt64 = 1 << 20

  /// Raises the wake-up that is proven to be the loop's own. Our duplicate of it is closed at once: as long as one lives,
  /// an epoll goes on to report a descriptor that the program has closed.
  package static func raise(
    process: Int32, waitingOn place: WakeUpPlace
  ) throws(WakeUpRefusal) -> WakeUpCounter {
    let own = try counter(among: try candidates(process, place))
    let duplicate = try duplicate(of: own.descriptor, process)
    guard let counter = EventCounter(process: getpid(), descriptor: duplicate.rawValue), counter.id == own.id,
      counter.isSemaphore == false, counter.isNonBlocking
    else { throw .replaced }
    guard counter.count == 0 else { throw .isRaised }
    var amount = amount
    do throws(Errno) {
      _ = try systemCall { unsafe write(duplicate.rawValue, &amount, MemoryLayout<UInt64>.size) }
    } catch { throw .notAllowed(error) }
    return own
  }

  /// Whether the loop has taken it since; nil: it is not there any more.
  package static func isTaken(_ counter: WakeUpCounter, process: Int32) -> Bool? {
    guard let now = EventCounter(process: process, descriptor: counter.descriptor), now.id == counter.id
    else {
      return nil
    }
    return now.count < amount
  }

  private static func duplicate(
    of descriptor: Int32, _ process: Int32
  ) throws(WakeUpRefusal) -> FileDescriptor {
    do throws(Errno) {
      let handle = try ProcessHandle(process)
      return FileDescriptor(owning: try systemCall { clinux_pidfd_getfd(handle.rawValue, descriptor) })
    } catch { throw error.code == EBADF || error.meansTaskGone ? .replaced : .notAllowed(error) }
  }
}

extension LoopWakeUp {
  /// An eventfd that the loop waits on.
  struct Candidate {
    var descriptor: Int32
    var counter: EventCounter
    /// How an epoll watches it.
    var entry: EpollEntry?
  }

  private static let mostEntries = 1024
  private static let mostEpollBytes = 1 << 18

  private static func candidates(
    _ process: Int32, _ place: WakeUpPlace
  ) throws(WakeUpRefusal) -> [Candidate] {
    let entries: [EpollEntry]
    switch place {
    case .epoll(let epoll):
      guard
        let text = try? readPseudoFile("/proc/\(process)/fdinfo/\(epoll)", limit: mostEpollBytes),
        text.count < mostEpollBytes
      else { throw .unreadable }
      entries = EpollEntry.entries(text.span, most: mostEntries)
    case .set(let set): entries = set.map { EpollEntry(descriptor: $0, events: 0, data: 0) }
    }
    guard entries.count < mostEntries else { throw .unreadable }
    let isEpoll = if case .epoll = place { true } else { false }
    return entries.compactMap { entry in
      EventCounter(process: process, descriptor: entry.descriptor).map {
        Candidate(descriptor: entry.descriptor, counter: $0, entry: isEpoll ? entry : nil)
      }
    }
  }

  /// GLib's contexts and libuv's loops have one eventfd from their beginning to their end: if there is only one it is
  /// that. libdispatch marks its own with a 1, where libuv has the descriptor and others have addresses.
  static func counter(among candidates: [Candidate]) throws(WakeUpRefusal) -> WakeUpCounter {
    if candidates.isEmpty { throw .noneFound }
    let marked = candidates.filter { $0.entry.map { $0.data == 1 && $0.descriptor != 1 } ?? false }
    guard let own = marked.count == 1 ? marked[0] : candidates.count == 1 ? candidates[0] : nil else {
      throw .several(candidates.count)
    }
    if own.entry?.isEdgeTriggered ?? false { throw .neverTaken }
    guard let isSemaphore = own.counter.isSemaphore else { throw .kernelTooOld }
    // One that blocks belongs to none of these loops.
    if isSemaphore || !own.counter.isNonBlocking { throw .isSemaphore }
    return WakeUpCounter(descriptor: own.descriptor, id: own.counter.id)
  }
}

extension WakeUpRefusal {
  /// For a message between two of our processes.
  package var words: (kind: UInt64, detail: Int64) {
    switch self {
    case .notAllowed(let error): (0, Int64(error.code))
    case .unreadable: (1, 0)
    case .noneFound: (2, 0)
    case .several(let count): (3, Int64(count))
    case .neverTaken: (4, 0)
    case .isSemaphore: (5, 0)
    case .kernelTooOld: (6, 0)
    case .replaced: (7, 0)
    case .isRaised: (8, 0)
    }
  }

  package init?(kind: UInt64, detail: Int64) {
    switch kind {
    case 0: self = .notAllowed(Errno(Int32(truncatingIfNeeded: detail)))
    case 1: self = .unreadable
    case 2: self = .noneFound
    case 3: self = .several(Int(detail))
    case 4: self = .neverTaken
    case 5: self = .isSemaphore
    case 6: self = .kernelTooOld
    case 7: self = .replaced
    case 8: self = .isRaised
    default: return nil
    }
  }
}
