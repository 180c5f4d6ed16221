// What the watch thread waits on: signals, the end of a process, a flag of another thread, and the wait itself.

internal import CLinux
internal import Glibc

/// A flag that another thread raises and a `PollSet` sees, eventfd(2).
package struct WakeUp: ~Copyable, Sendable {
  private let descriptor: FileDescriptor
  package var rawValue: Int32 { descriptor.rawValue }

  package init() throws(Errno) {
    descriptor = FileDescriptor(owning: try systemCall { clinux_eventfd() })
  }

  package func raise() {
    var one: UInt64 = 1
    _ = unsafe Glibc.write(rawValue, &one, 8)
  }

  package func acknowledge() {
    var count: UInt64 = 0
    _ = unsafe Glibc.read(rawValue, &count, 8)
  }
}

package struct ReceivedSignal: Sendable {
  package var number: Int32
  package var sender: Int32
  /// Sent by a process (kill, sigqueue), not by the kernel or a terminal.
  package var isFromProcess: Bool
}

/// Signals as a descriptor, signalfd(2). Blocks them in the calling thread and in the threads it starts later.
package struct SignalDescriptor: ~Copyable, Sendable {
  private let descriptor: FileDescriptor
  package var rawValue: Int32 { descriptor.rawValue }

  package init(_ signals: [Int32]) throws(Errno) {
    let raw = try systemCall { () -> Int32 in
      unsafe signals.withUnsafeBufferPointer { unsafe clinux_signalfd($0.baseAddress, Int32($0.count)) }
    }
    descriptor = FileDescriptor(owning: raw)
  }

  package func next() -> ReceivedSignal? {
    var info = clinux_signal_info()
    guard unsafe clinux_read_signal(rawValue, &info) > 0, info.signal != 0 else { return nil }
    // SI_USER is 0, SI_QUEUE −1, SI_TKILL −6; what the kernel sends is positive.
    return ReceivedSignal(number: info.signal, sender: info.sender, isFromProcess: info.code <= 0)
  }
}

/// A process that cannot be confused with a later one of the same id, pidfd_open(2). Readable when it has ended.
package struct ProcessHandle: ~Copyable, Sendable {
  private let descriptor: FileDescriptor
  package var rawValue: Int32 { descriptor.rawValue }
  package let id: Int32

  package init(_ id: Int32) throws(Errno) {
    self.id = id
    descriptor = FileDescriptor(owning: try systemCall { clinux_pidfd_open(id) })
  }

  /// All its threads have. As long as this is false, nobody else can have its id.
  package var hasEnded: Bool {
    var poll = PollSet([rawValue])
    try? poll.wait(timeoutMilliseconds: 0)
    return poll.isReady(0)
  }
}

/// The descriptors that one thread waits on, poll(2). Waiting does not allocate.
package struct PollSet: ~Copyable {
  private var entries: [pollfd]

  package init(_ descriptors: [Int32]) {
    entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
  }

  /// Waits until one of them is ready for reading (or has ended); −1 waits for ever.
  package mutating func wait(timeoutMilliseconds: Int32 = -1) throws(Errno) {
    _ = try systemCall { () -> Int32 in
      unsafe entries.withUnsafeMutableBufferPointer {
        unsafe poll($0.baseAddress, nfds_t($0.count), timeoutMilliseconds)
      }
    }
  }

  /// The same until a moment of CLOCK_MONOTONIC. In one call where a timer of one's own takes three: for whoever wakes up
  /// to do next to nothing, calls are most of the cost.
  package mutating func wait(untilNanoseconds end: Int64) throws(Errno) {
    _ = try systemCall { () -> Int32 in
      let rest = max(0, end &- Clock.monotonicNanoseconds)
      return unsafe entries.withUnsafeMutableBufferPointer {
        unsafe clinux_poll_for($0.baseAddress, UInt32($0.count), rest)
      }
    }
  }

  package func isReady(_ index: Int) -> Bool { entries[index].revents != 0 }
}
