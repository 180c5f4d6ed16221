// Looks at whoever runs a loop: one thread, or whichever thread works for the main queue of libdispatch at the moment.

package import Linux
package import StallCore

package struct LoopObserver: ~Copyable {
  private let process: Int32
  private let way: ThreadObserverWay
  private var thread: ThreadObserver?
  private var queue: MainQueueReader?
  private var role = QueueThread()
  /// Who works for the queue, or last did.
  package private(set) var worker: Int32?

  /// An owner that changes so often while one look is made is no stall.
  private static let attempts = 3

  package init(process: Int32, thread: Int32, _ way: ThreadObserverWay) throws(Errno) {
    self.process = process
    self.way = way
    self.thread = try ThreadObserver(process: process, thread: thread, way)
    if case .procWithoutWaits = way { facts.sight = .notAsked }
  }

  package init(process: Int32, mainQueueAt address: UInt64, _ way: ThreadObserverWay) {
    self.process = process
    self.way = way
    queue = MainQueueReader(process: process, address: address)
  }

  /// Of the last look at a thread.
  package private(set) var facts = LookFacts()
  /// It was made by the task iterator.
  package private(set) var isByIterator = false

  /// `isAtWork`: by the look before; see `ProcObserver`.
  package mutating func look(
    isAtWork: Bool = true, readMemory: MemoryReader
  ) throws(Errno) -> ThreadObservation {
    if queue != nil { return try lookAtQueue(readMemory) }
    guard let look = try lookAtThread(isAtWork: isAtWork, readMemory) else { throw .noSuchProcess }
    return look
  }

  /// The moment, if the thread is certainly where the last look found it blocked; nil: look.
  package func restsStill() -> Instant? { thread?.restsStill() ?? nil }

  /// When the block of the last look began; nil if the thread was not blocked or the kernel does not tell.
  package mutating func blockStart(of look: ThreadObservation) -> BlockStart? { thread?.blockStart(of: look) }

  private mutating func lookAtThread(
    isAtWork: Bool = true, _ readMemory: MemoryReader
  ) throws(Errno) -> ThreadObservation? {
    let look = try thread?.look(isAtWork: isAtWork, readMemory: readMemory)
    if let seen = thread?.facts { facts = seen }
    isByIterator = thread?.isByIterator ?? false
    return look
  }

  private mutating func lookAtQueue(_ readMemory: MemoryReader) throws(Errno) -> ThreadObservation {
    if let look = try? lookAtThread(readMemory), let unmoved = role.stay(look) { return unmoved }
    for _ in 0..<Self.attempts {
      guard let sight = try queue?.read(readMemory) else { return role.unknown(at: .now) }
      if sight.waitsForThread { return role.unknown(at: .now) }
      guard let owner = sight.owner else { return role.rest(at: .now) }
      guard let look = lookAtWorker(owner, readMemory) else { continue }
      // What it does, it does for the queue only if it has it before and after.
      if let after = try queue?.read(readMemory), after.owner == owner {
        return role.work(look, of: owner, after)
      }
    }
    return role.rest(at: .now)
  }

  /// Nil: it has ended meanwhile.
  private mutating func lookAtWorker(_ id: Int32, _ readMemory: MemoryReader) -> ThreadObservation? {
    if id != queue?.openedWorker {
      worker = ThreadList.thread(of: process, knownToItselfAs: id)
      thread = worker.flatMap { try? ThreadObserver(process: process, thread: $0, way) }
      queue?.openedWorker = id
    }
    guard let look = try? lookAtThread(readMemory), !look.state.hasEnded else {
      queue?.openedWorker = nil
      return nil
    }
    return look
  }
}

/// The queue's words in the memory of the target.
struct MainQueueReader {
  private let process: Int32
  private let address: UInt64
  private var buffer = [UInt8](repeating: 0, count: MainQueueSight.byteCount)
  /// The thread that is open, as the target knows it.
  var openedWorker: Int32?

  init(process: Int32, address: UInt64) {
    self.process = process
    self.address = address
  }

  /// Nil: no answer in time. Throws where there is no such queue any more.
  mutating func read(_ readMemory: MemoryReader) throws(Errno) -> MainQueueSight? {
    guard readMemory(address, MainQueueSight.byteCount, &buffer) else { return nil }
    guard let sight = MainQueueSight(buffer.span) else { throw .noSuchProcess }
    return sight
  }
}

extension Instant {
  fileprivate static var now: Instant { Instant(nanoseconds: Clock.monotonicNanoseconds) }
}
