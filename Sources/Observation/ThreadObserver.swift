// Looks at one thread in one of the ways in which that is done; whoever asks need not know in which.

package import Linux
package import StallCore

/// By what the threads of a process are looked at.
package enum ThreadObserverWay: Sendable {
  case proc
  /// Only states and CPU time are wanted.
  case procWithoutWaits
  case taskIterator(TaskProgram)
}

package final class ThreadObserver {
  private let process: Int32
  private let thread: Int32
  private var iterator: IteratorObserver?
  /// Where there is no iterator, and while that may not tell of the thread.
  private var proc: ProcObserver?
  /// Of the iterator, as long as it may not.
  private var retry = RetrySpacing()

  /// Of the last look.
  package private(set) var facts = LookFacts()

  /// A thread of which the iterator cannot tell is looked at through `/proc`.
  package init(process: Int32, thread: Int32, _ way: ThreadObserverWay) throws(Errno) {
    (self.process, self.thread) = (process, thread)
    switch way {
    case .taskIterator(let program):
      iterator = try? IteratorObserver(process: process, thread: thread, program)
      proc = iterator == nil ? try ProcObserver(process: process, thread: thread) : nil
    case .proc: proc = try ProcObserver(process: process, thread: thread)
    case .procWithoutWaits: proc = try ProcObserver(process: process, thread: thread, seesWaits: false)
    }
  }

  /// The last look was made by the task iterator.
  package var isByIterator: Bool { proc == nil }

  /// `isAtWork`: by the look before.
  package func look(isAtWork: Bool, readMemory: MemoryReader) throws(Errno) -> ThreadObservation {
    if let look = try lookByIterator(isAtWork, readMemory) { return look }
    // Rights over the program can go and come back while it is watched: it executes one with rights of its own, say.
    if proc == nil { proc = try ProcObserver(process: process, thread: thread) }
    guard let look = try proc?.look(isAtWork: isAtWork, readMemory: readMemory) else { throw .noSuchProcess }
    facts = proc?.facts ?? facts
    return look
  }

  /// The moment, if the thread is certainly where the last look found it blocked; nil: look.
  package func restsStill() -> Instant? {
    isByIterator ? iterator?.restsStill() ?? nil : proc?.restsStill() ?? nil
  }

  private func lookByIterator(
    _ isAtWork: Bool, _ readMemory: MemoryReader
  ) throws(Errno) -> ThreadObservation? {
    let now = Instant(nanoseconds: Clock.monotonicNanoseconds)
    guard iterator != nil, retry.isDue(at: now) else { return nil }
    guard let look = try iterator?.look(isAtWork: isAtWork, readMemory: readMemory) else {
      retry.refuse(at: now)
      return nil
    }
    proc = nil
    retry = RetrySpacing()
    facts = iterator?.facts ?? facts
    return look
  }

  /// When the block of the last look began; nil if the thread was not blocked or the kernel does not tell.
  package func blockStart(of look: ThreadObservation) -> BlockStart? {
    proc == nil ? iterator?.blockStart(of: look) ?? nil : proc?.blockStart(of: look) ?? nil
  }
}
