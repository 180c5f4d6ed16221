// Reads from `/proc` whom a thread of the target waits for: one link of a chain of locks.

internal import Linux
internal import StallCore

struct LockChainReader {
  private let processID: Int32
  private let memory: EvidenceReader.MemoryReader
  private let identities: ThreadIdentities
  private let end: Int64

  /// The watch thread waits for it. In a pid namespace of the target's own each link may take a file for each thread.
  private static let patience: Int64 = 20_000_000

  init(processID: Int32, memory: @escaping EvidenceReader.MemoryReader, identities: ThreadIdentities) {
    self.processID = processID
    self.memory = memory
    self.identities = identities
    end = Clock.monotonicNanoseconds + Self.patience
  }

  /// Nil also once it has taken too long: then no ring is told, and the chain ends with what was read. In this order, the
  /// count first: then two readings with the same count prove that the wait lasted.
  func wait(of thread: Int32) -> LockWait? {
    guard Clock.monotonicNanoseconds < end, let times = timesScheduled(thread),
      let call = blockedCall(thread),
      let address = LockWord.address(in: call), let bytes = memory(address, LockWord.length)
    else { return nil }
    let lock = LockWord(call, bytes: bytes, functions: [])
    guard let holder = lock.thread.flatMap(identities.liveThread), let waiter = identities.named(thread)
    else {
      return nil
    }
    return LockWait(waiter: waiter, call: call, timesScheduled: times, lock: lock, holder: holder)
  }

  private func timesScheduled(_ thread: Int32) -> UInt64? {
    guard let text = try? readPseudoFile("/proc/\(processID)/task/\(thread)/schedstat", limit: 256) else {
      return nil
    }
    return SchedulerStatistics(text.span)?.timesScheduled
  }

  private func blockedCall(_ thread: Int32) -> BlockedCall? {
    if case .blocked(let call) = activity(of: thread) { call } else { nil }
  }

  func activity(of thread: Int32) -> Activity? {
    guard let text = try? readPseudoFile("/proc/\(processID)/task/\(thread)/syscall", limit: 512) else {
      return nil
    }
    switch SystemCallRecord(text.span) {
    case nil: return nil
    case .running: return .running
    case .outsideCall(let stackPointer, let programCounter):
      return .blockedOutsideCall(stackPointer: stackPointer, programCounter: programCounter)
    case .call(let number, let words, let stackPointer, let programCounter):
      return .blocked(
        BlockedCall(
          number: number,
          arguments: InlineArguments(words),
          stackPointer: stackPointer, programCounter: programCounter))
    }
  }
}

/// Which thread the target means by an id, for as long as one explanation takes.
final class ThreadIdentities {
  private let processID: Int32
  private var outerIDs: [Int32: Int32?] = [:]

  init(processID: Int32) { self.processID = processID }

  /// The living thread that the target itself knows by this id. Looked for once: in a pid namespace of the target's own
  /// that takes a file for each thread.
  func liveThread(_ id: Int32) -> Evidence.Thread? {
    let outer = outerIDs[id] ?? ThreadList.thread(of: processID, knownToItselfAs: id)
    outerIDs[id] = .some(outer)
    return outer.flatMap(named)
  }

  /// By its id as we see it; nil once it has ended.
  func named(_ thread: Int32) -> Evidence.Thread? {
    guard var name = try? readPseudoFile("/proc/\(processID)/task/\(thread)/comm", limit: 64) else {
      return nil
    }
    if name.last == UInt8(ascii: "\n") { name.removeLast() }
    return Evidence.Thread(id: thread, name: ByteString(name))
  }
}
