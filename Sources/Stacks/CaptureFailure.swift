// Why a thread could not be copied, or must not be.

package import Linux

package enum CaptureFailure: Error, Hashable, Sendable {
  /// The thread or its process has ended.
  case gone
  case refused(Errno)
  case timedOut
  /// It ran between the first and the last look, so what was copied does not fit together.
  case moved
  /// It is on a CPU, and only a stop could show where.
  case running
  /// The same, and the kernel allows no samples of it.
  case runningUnsampled(Errno)
  /// It idles in its loop; stopping it is never worth it.
  case parked
  /// It is in a call that a stop would make fail or come back short.
  case inFragileCall(number: Int)
  case uninterruptible
  /// It is in a system call that waits for a page from another process.
  case waitingForPage
  case stoppedBySignal
  case traced(by: Int32)
  case frozen
  case dumpingCore
  case kernelThread
  case thirtyTwoBit
  /// The user asked for nothing to be stopped, ever.
  case stopsForbidden
  /// The user asked for no stacks.
  case stacksOff
  /// The helper process ended before it answered.
  case helperDied
  case helperUnavailable(Errno)
  /// Another one is on its way.
  case helperStarting
  /// The helper answered something that makes no sense.
  case malformedReply

  /// It was copied, and the copy given up because too many were waiting to be written.
  case dropped

  /// Trouble that may be over in a moment: it is worth trying again.
  package var isPassing: Bool {
    switch self {
    case .timedOut, .moved, .helperDied, .helperUnavailable, .helperStarting, .malformedReply: true
    default: false
    }
  }

  /// For a person, as the end of a sentence that names the thread.
  package var text: String {
    switch self {
    case .gone: "has ended"
    case .refused(let error): "may not be looked into (\(error.text))"
    case .timedOut: "did not answer in time"
    case .moved: "kept moving while its stack was copied"
    case .running: "is running, and may only be looked at while blocked"
    case .runningUnsampled(let error): "is running, and perf samples are not allowed (\(error.text))"
    case .parked: "idles in its loop and is not stopped for a look"
    case .inFragileCall(let number): "is in a system call (\(number)) that a stop would disturb"
    case .uninterruptible: "is in an uninterruptible kernel wait (D)"
    case .waitingForPage: "waits for a page of its memory that another process must serve"
    case .stoppedBySignal: "is stopped by a signal"
    case .traced(let tracer): "is traced by process \(tracer)"
    case .frozen: "is frozen by its cgroup"
    case .dumpingCore: "crashed and is dumping core"
    case .kernelThread: "is a thread of the kernel"
    case .thirtyTwoBit: "is a 32-bit program"
    case .stopsForbidden: "could only be seen by stopping it, which is switched off"
    case .stacksOff: "is watched without stacks (--cpu-only)"
    case .helperDied: "was lost sight of: the helper process ended"
    case .helperUnavailable(let error): "cannot be copied: no helper process (\(error.text))"
    case .helperStarting: "cannot be copied yet: the helper process is starting"
    case .malformedReply: "cannot be copied: the helper process answered nonsense"
    case .dropped: "was copied, but the reader of the reports was too slow"
    }
  }
}
