// The values that a recording holds beside looks: what was watched, what was said meanwhile, and how it ended.

package import StallCore

/// What was watched and how, as the first record of a watch tells it.
package struct RecordedWatch: Sendable, Equatable {
  /// Something that could not be had, and why.
  package struct Missing: Sendable, Equatable {
    package var what: String
    package var why: String

    package init(what: String, why: String) { (self.what, self.why) = (what, why) }
  }

  /// The version of stallwatch that recorded it.
  package var writtenBy = ""
  package var watchID = ""
  package var host: ByteString = ""
  package var processID: Int32 = 0
  package var name: ByteString = ""
  package var command: [ByteString] = []
  package var executable: ByteString?
  package var buildID: String?
  package var startTicks: UInt64?
  package var generation = 1
  package var threads = 1
  /// The word for it in records.
  package var observer = ""
  package var captureWays: [CaptureWay] = []
  package var missing: [Missing] = []
  package var threshold: Duration = .zero
  /// As given by `--interval`.
  package var interval: Duration?
  /// 0: busy threads were not looked for.
  package var cpuThreshold: Double = 0
  package var cpuWindow: Duration = .zero
  package var startedAt = Instant(nanoseconds: 0)
  /// The one that the watch began with, and why.
  package var thread = RecordedThread(index: 0, threadID: 0, name: "", role: .main)
  package var threadReason = ""
  /// As given by `--home`.
  package var home: HomeSelector?
  /// As given by `--probe`; empty: nobody was asked.
  package var probe = ""

  package init() {}
}

package struct RecordedThread: Sendable, Equatable {
  package var index: Int
  package var threadID: Int32
  package var name: ByteString
  package var role: ThreadRole

  package init(index: Int, threadID: Int32, name: ByteString, role: ThreadRole) {
    (self.index, self.threadID, self.name, self.role) = (index, threadID, name, role)
  }
}

/// What a followed thread was found to do at a moment, as far as it was named later.
package struct RecordedStack: Sendable {
  package var at: Instant
  package var stack: Stack
  package var cause: Cause?
  /// Other threads that were copied along with it.
  package var companions: [Stack]

  package init(at: Instant, stack: Stack, cause: Cause?, companions: [Stack] = []) {
    (self.at, self.stack, self.cause, self.companions) = (at, stack, cause, companions)
  }
}

package struct RecordedNotice: Sendable, Equatable {
  package var at: Instant
  /// The word for it in records.
  package var kind: String
  package var text: String
  package var loop: RecordedLoop?

  package init(at: Instant, kind: String, text: String, loop: RecordedLoop? = nil) {
    (self.at, self.kind, self.text, self.loop) = (at, kind, text, loop)
  }
}

/// The event loop that a notice speaks of.
package struct RecordedLoop: Sendable, Equatable {
  package var threadID: Int32
  package var home: String?
  package var family: String?
  package var parkedPercent: Double?
  package var nesting: Int?

  package init(threadID: Int32, home: String?, family: String?, parkedPercent: Double?, nesting: Int?) {
    (self.threadID, self.home, self.family) = (threadID, home, family)
    (self.parkedPercent, self.nesting) = (parkedPercent, nesting)
  }
}

package struct RecordedBusyThread: Sendable {
  package var at: Instant
  package var percent: Double
  package var window: Duration
  package var stack: Stack

  package init(at: Instant, percent: Double, window: Duration, stack: Stack) {
    (self.at, self.percent, self.window, self.stack) = (at, percent, window, stack)
  }
}

package struct RecordedExit: Sendable, Equatable {
  package enum How: Sendable, Equatable {
    case unknown
    case exited(Int32)
    case signalled(Int32)
  }

  package struct Survivor: Sendable, Equatable {
    package var processID: Int32
    package var name: ByteString

    package init(processID: Int32, name: ByteString) { (self.processID, self.name) = (processID, name) }
  }

  package var at: Instant
  package var how: How
  /// Nil: not looked for.
  package var survivors: [Survivor]?

  package init(at: Instant, how: How, survivors: [Survivor]?) {
    (self.at, self.how, self.survivors) = (at, how, survivors)
  }
}

/// What the watch had cost at its end.
package struct RecordedEnd: Sendable, Equatable {
  package var at: Instant
  package var cpuTime: Duration
  package var targetStopped: Duration

  package init(at: Instant, cpuTime: Duration, targetStopped: Duration) {
    (self.at, self.cpuTime, self.targetStopped) = (at, cpuTime, targetStopped)
  }
}

/// Both clocks at one moment.
package struct RecordedClock: Sendable, Equatable {
  package var at: Instant
  package var wallMicroseconds: Int64

  package init(at: Instant, wallMicroseconds: Int64) {
    (self.at, self.wallMicroseconds) = (at, wallMicroseconds)
  }
}

/// One entry as it is read.
package enum RecordingEntry: Sendable {
  case watch(RecordedWatch)
  case threadBegan(RecordedThread)
  /// Of the main queue: who works for it from here on. The role is left to `threadBegan`.
  case worker(Int, threadID: Int32, name: ByteString)
  /// A look did not find it.
  case threadMissed(Int)
  /// It is gone, another one is followed instead, or the watch or the process has ended.
  case threadEnded(Int, at: Instant, Interruption)
  case clock(RecordedClock)
  /// The process executed another program; as the followed thread was seen to do.
  case programReplaced(Int)
  /// From here on more or less of the thread's waits can be seen.
  case sightChanged(Int)
  /// What a stack has said of a wait.
  case learned(Int, WaitMeaning, of: Site)
  /// Whether a loop of the thread is judged from here on.
  case judged(Int, Bool)
  /// What the machine and the program's group had gone through; for the look that follows.
  case surroundings(Int, SurroundingsReading)
  /// What became of questions from outside, before the look that knows of it.
  case probed([ProbeEvent])
  /// A loop took a wake-up after so long.
  case pingTaken(after: Duration)
  case look(RecordedLook)
  /// The watch itself did not look when it meant to; before the first look after that.
  case gap(Int, WatchGap)
  case phaseFact(Int, PhaseFact)
  /// Whether another job has the foreground of the program's terminal from here on.
  case background(Int, Bool)
  case looksMissing(Int)
  case notice(RecordedNotice)
  case stack(RecordedStack)
  case busyThread(RecordedBusyThread)
  case exit(RecordedExit)
  case end(RecordedEnd)
}

package struct RecordedLook: Sendable {
  package var thread: Int
  package var observation: ThreadObservation
  /// How long after its time it was made.
  package var late: Duration
  /// Made right after the thread was held for a capture, not when a look was due.
  package var isAfterCapture: Bool

  package init(
    thread: Int, observation: ThreadObservation, late: Duration = .zero, isAfterCapture: Bool = false
  ) {
    (self.thread, self.observation, self.late) = (thread, observation, late)
    self.isAfterCapture = isAfterCapture
  }
}
