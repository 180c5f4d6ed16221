// What one look at one thread showed.

/// The scheduler's state letter of a thread, as in proc_pid_stat(5).
package enum ThreadState: UInt8, Sendable {
  case running = 0x52  // R
  case sleeping = 0x53  // S
  case uninterruptible = 0x44  // D
  case stopped = 0x54  // T
  case traced = 0x74  // t
  case zombie = 0x5A  // Z
  case dead = 0x58  // X
  case idle = 0x49  // I, kernel threads
  case parked = 0x50  // P, kernel threads
  /// By its cgroup. No letter of the kernel, which shows S or D.
  case frozen = 0x46

  /// Held by a signal, a debugger, its cgroup: no time of its own passes.
  package var isPaused: Bool { self == .stopped || self == .traced || self == .frozen }
  package var hasEnded: Bool { self == .zombie || self == .dead }
}

/// The system call in which a thread is blocked.
package struct BlockedCall: Hashable, Sendable {
  package var number: Int
  package var arguments: InlineArguments
  package var stackPointer: UInt64
  package var programCounter: UInt64

  package init(number: Int, arguments: InlineArguments, stackPointer: UInt64, programCounter: UInt64) {
    self.number = number
    self.arguments = arguments
    self.stackPointer = stackPointer
    self.programCounter = programCounter
  }

  /// This is `restart_syscall`, and continues that call.
  package func continues(_ call: BlockedCall) -> Bool {
    number == SystemCallNumber.restartSyscall && stackPointer == call.stackPointer
      && programCounter == call.programCounter && arguments == call.arguments
  }
}

/// Six words without an allocation.
package struct InlineArguments: Hashable, Sendable {
  package var first, second, third, fourth, fifth, sixth: UInt64

  package init(
    _ first: UInt64 = 0, _ second: UInt64 = 0, _ third: UInt64 = 0, _ fourth: UInt64 = 0, _ fifth: UInt64 = 0,
    _ sixth: UInt64 = 0
  ) {
    (self.first, self.second, self.third) = (first, second, third)
    (self.fourth, self.fifth, self.sixth) = (fourth, fifth, sixth)
  }

  package init(_ words: InlineArray<6, UInt64>) {
    self.init(words[0], words[1], words[2], words[3], words[4], words[5])
  }
}

/// When a block began, as far as the kernel tells: not after the one, and not before the other.
package struct BlockStart: Hashable, Sendable {
  package var latest: Instant
  package var earliest: Instant?

  package init(latest: Instant, earliest: Instant? = nil) {
    self.latest = latest
    self.earliest = earliest
  }

  /// By the clock of a CPU, between the last look that found the thread elsewhere and the one that found it blocked. Nil if
  /// that is not so: each CPU has a clock of its own, seconds behind that of another one where a hypervisor stole so much,
  /// and a thread can have been given to another CPU since it left the one whose clock was noted.
  package init?(by clock: BlockStart, after lastElsewhere: Instant?, at look: Instant) {
    if let lastElsewhere, clock.latest < lastElsewhere { return nil }
    if clock.earliest ?? clock.latest - Self.mostLate > look { return nil }
    latest = min(clock.latest, look)
    // Of every new block that is looked at: without an array.
    let bound = clock.earliest.map { max($0, lastElsewhere ?? $0) } ?? lastElsewhere
    earliest = bound.map { [latest] in min(latest, $0) }
  }

  /// Stolen in the time between the look and the reading of the clock.
  private static let mostLate: Duration = .milliseconds(5)
}

/// Where a thread is, as far as `/proc/PID/task/TID/syscall` tells, or else `wchan`.
package enum Activity: Hashable, Sendable {
  /// On a CPU, or waiting for one.
  case running
  case blocked(BlockedCall)
  /// Blocked, but not in a system call: a page fault.
  case blockedOutsideCall(stackPointer: UInt64, programCounter: UInt64)
  /// Blocked in a call that may not be seen, a wait of this kind; nil: in none in which a loop would idle.
  case blockedByKind(WaitKind?)
  case unknown
}

package struct ThreadObservation: Sendable {
  package var at: Instant
  package var state: ThreadState
  package var activity: Activity
  /// Time on a CPU since the thread began; while it runs, up to one scheduler tick old.
  package var cpuTime: Duration
  /// Time spent runnable but not running.
  package var runQueueDelay: Duration
  /// How often it was put on a CPU: unchanged while off the CPU means that it did not move.
  package var timesScheduled: UInt64
  /// How often it gave up the CPU of its own accord; the present block is counted.
  package var voluntarySwitches: UInt64
  /// Clock ticks that found it in user mode and in the kernel: a rough split of `cpuTime`.
  package var userTicks: UInt64 = 0
  package var kernelTicks: UInt64 = 0
  /// When the present block began, where that is known: never earlier than the truth, and at most
  /// `blockedSinceTolerance` later.
  package var blockedSince: Instant?
  /// The truth is not before this, where that was measured.
  package var blockedNotBefore: Instant?
  /// When it was last put on a CPU, where the observer can tell.
  package var arrival: ProcessorArrival?
  /// The descriptors that a `poll` or `select` waits on, where they could be read.
  package var descriptors: DescriptorSet?
  /// Whether the loop came round meanwhile, where something other than looks can tell.
  package var passes: PassSight?

  /// `blockedSince` lacks the time that the hypervisor stole from the CPU since then. Where nothing bounds it (recordings of
  /// earlier versions), a twentieth, and something for short blocks, is what a calm machine stays below; 18 ms of 700 were
  /// seen.
  package var blockedSinceTolerance: Duration {
    guard let blockedSince else { return .zero }
    let measured = blockedNotBefore.map { max(.zero, blockedSince - $0) }
    if let arrival = toleranceByArrival { return min(arrival, measured ?? arrival) }
    return measured ?? .milliseconds(5) + max(.zero, at - blockedSince) / 20
  }

  package var blockStart: BlockStart? {
    get { blockedSince.map { BlockStart(latest: $0, earliest: blockedNotBefore) } }
    set { (blockedSince, blockedNotBefore) = (newValue?.latest, newValue?.earliest) }
  }

  /// When the look before saw the thread, if not in the block of this one.
  package func lastElsewhere(after last: ThreadObservation?) -> Instant? {
    guard let last, !last.isBlocked || last.timesScheduled != timesScheduled else { return nil }
    return last.at
  }

  package init(
    at: Instant, state: ThreadState, activity: Activity, cpuTime: Duration, runQueueDelay: Duration,
    timesScheduled: UInt64, voluntarySwitches: UInt64, blockedSince: Instant? = nil,
    descriptors: DescriptorSet? = nil
  ) {
    self.at = at
    self.state = state
    self.activity = activity
    self.cpuTime = cpuTime
    self.runQueueDelay = runQueueDelay
    self.timesScheduled = timesScheduled
    self.voluntarySwitches = voluntarySwitches
    self.blockedSince = blockedSince
    self.descriptors = descriptors
  }

  package var isBlocked: Bool {
    switch activity {
    case .running: false
    case .blocked, .blockedOutsideCall, .blockedByKind: true
    case .unknown: state == .sleeping || state == .uninterruptible
    }
  }

  /// The kernel continues a call after a stop.
  var isRestarted: Bool {
    if case .blocked(let call) = activity { call.number == SystemCallNumber.restartSyscall } else { false }
  }

  /// Running at both looks, or blocked in the same call: after a stop the kernel shows it as `restart_syscall` with the
  /// stack pointer, program counter and arguments of before.
  package func isAtSamePlace(as earlier: ThreadObservation) -> Bool {
    switch (earlier.activity, activity) {
    case (.running, .running): true
    case (.blocked(let before), .blocked(let now)): now == before || now.continues(before)
    case (.blockedByKind(let before), .blockedByKind(let now)): now == before
    default: false
    }
  }

  /// Off the CPU at the earlier look and not scheduled in since: proof that nothing happened between the two. A thread that
  /// lost its CPU on the way to sleep is not counted when it gets one again (kernel/sched/stats.h, `sched_info_arrive`), but
  /// when it leaves it.
  package func hasNotMoved(since earlier: ThreadObservation) -> Bool {
    earlier.isBlocked && isBlocked && earlier.timesScheduled == timesScheduled
      && earlier.voluntarySwitches == voluntarySwitches
  }
}
