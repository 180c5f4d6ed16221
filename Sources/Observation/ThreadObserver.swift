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

package struct ThreadObserver: ~Copyable {
  /// One of the two.
  private var iterator: IteratorObserver?
  private var proc: ProcObserver?

  /// What the last look could see of waits.
  package private(set) var sight = WaitSight.calls
  /// The program that the process ran at the last look.
  package private(set) var image: ImageMark?
  /// At the last look that read it: at most two seconds ago.
  package private(set) var isInBackground = false
  /// The same.
  package private(set) var majorFaults: UInt64 = 0

  /// A thread of which the iterator cannot tell is looked at through `/proc`.
  package init(process: Int32, thread: Int32, _ way: ThreadObserverWay) throws(Errno) {
    switch way {
    case .taskIterator(let program):
      iterator = try? IteratorObserver(process: process, thread: thread, program)
      proc = iterator == nil ? try ProcObserver(process: process, thread: thread) : nil
    case .proc: proc = try ProcObserver(process: process, thread: thread)
    case .procWithoutWaits: proc = try ProcObserver(process: process, thread: thread, seesWaits: false)
    }
  }

  /// `isAtWork`: by the look before.
  package mutating func look(isAtWork: Bool, readMemory: MemoryReader) throws(Errno) -> ThreadObservation {
    if let look = try iterator?.look(isAtWork: isAtWork, readMemory: readMemory) {
      image = iterator?.image ?? nil
      isInBackground = iterator?.isInBackground ?? false
      majorFaults = iterator?.majorFaults ?? 0
      return look
    }
    guard let look = try proc?.look(isAtWork: isAtWork, readMemory: readMemory) else { throw .noSuchProcess }
    sight = proc?.sight ?? .calls
    image = proc?.image ?? nil
    isInBackground = proc?.isInBackground ?? false
    majorFaults = proc?.majorFaults ?? 0
    return look
  }

  /// When the block of the last look began; nil if the thread was not blocked or the kernel does not tell.
  package mutating func blockStart(of look: ThreadObservation) -> BlockStart? {
    if let start = iterator?.blockStart(of: look) { return start }
    return proc?.blockStart(of: look)
  }
}
