// Who holds the lock that a thread waits for, what that one waits for, and so on, to the last one or round in a ring.

package import StallCore

/// A thread that waits for what another one holds, and the state of its scheduling by which two readings can be compared.
package struct LockWait: Hashable, Sendable {
  package var waiter: Evidence.Thread
  package var call: BlockedCall
  /// Unchanged: it did not run in between.
  package var timesScheduled: UInt64
  package var lock: LockWord
  package var holder: Evidence.Thread

  package init(
    waiter: Evidence.Thread, call: BlockedCall, timesScheduled: UInt64, lock: LockWord,
    holder: Evidence.Thread
  ) {
    self.waiter = waiter
    self.call = call
    self.timesScheduled = timesScheduled
    self.lock = lock
    self.holder = holder
  }

  /// It gives up after a while: not for ever, then.
  var hasTimeout: Bool {
    call.number == SystemCallNumber.futexWait ? call.arguments.fifth != 0 : call.arguments.fourth != 0
  }
}

package struct LockChain: Hashable, Sendable {
  package enum End: Hashable, Sendable {
    /// The last holder is the one who waits in that link.
    case ring(from: Int)
    /// The last holder waits for nobody whom its wait names.
    case free
    /// Followed no further.
    case tooLong
  }

  package static let mostWaits = 16

  package let waits: [LockWait]
  package let end: End

  /// Follows the holders twice. What both readings say held at one moment in between: a waiter that is found in the same
  /// wait again, and was not put on a CPU meanwhile, has waited all along, and who waits all along gives no lock away. So
  /// a ring is never made of words that were read at different moments.
  package init(from thread: Int32, wait: (Int32) -> LockWait?) {
    let first = Self.follow(from: thread, wait)
    let second = Self.follow(from: thread, wait)
    if first == second {
      (waits, end) = first
    } else {
      waits = zip(first.waits, second.waits).prefix { $0 == $1 }.map { $0.0 }
      end = .free
    }
  }

  private static func follow(
    from thread: Int32, _ wait: (Int32) -> LockWait?
  ) -> (waits: [LockWait], end: End) {
    var waits: [LockWait] = []
    var next = thread
    while waits.count < mostWaits {
      guard let found = wait(next) else { return (waits, .free) }
      waits.append(found)
      next = found.holder.id
      if let start = waits.firstIndex(where: { $0.waiter.id == next }) { return (waits, .ring(from: start)) }
    }
    return (waits, .tooLong)
  }

  /// Those that wait for one another for ever; empty if there are none.
  var deadlocked: ArraySlice<LockWait> {
    guard case .ring(let start) = end, !waits[start...].contains(where: \.hasTimeout) else { return [] }
    return waits[start...]
  }

  /// Everyone who holds something, in the order of the chain; of a ring each once, the first waiter left out.
  package var holders: [Evidence.Thread] {
    if case .ring = end { waits.dropLast().map(\.holder) } else { waits.map(\.holder) }
  }

  /// Who holds up all the others, where somebody does.
  package var lastHolder: Evidence.Thread? { end == .free ? waits.last?.holder : nil }
}
