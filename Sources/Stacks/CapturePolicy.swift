// Which ways of capturing a thread are harmless, given what a look at it showed. The task iterator's always is, and nobody
// comes here for it.

package import StallCore

/// What a thread does in the kernel, as `/proc/PID/task/TID/syscall` tells it.
package enum SystemCallState: Hashable, Sendable {
  case running
  /// Blocked in a system call.
  case inside(number: Int)
  /// Blocked, but not in a system call: in a page fault, for example.
  case outside
}

/// What the descriptor of a blocking call refers to, as far as a stop makes a difference.
package enum DescriptorKind: Hashable, Sendable {
  case socket
  case other
  case unknown
}

/// What is asked for, by whoever knows the thread's role.
package struct CaptureRules: Hashable, Sendable {
  /// The thread waits in its own loop.
  package var isParked: Bool
  /// False for a mere suspect, and always under `--never-stop`.
  package var mayStop: Bool
  /// One look at everything, asked for by a person: may also seize threads that a signal has stopped.
  package var isDump: Bool

  package init(isParked: Bool = false, mayStop: Bool = true, isDump: Bool = false) {
    self.isParked = isParked
    self.mayStop = mayStop
    self.isDump = isDump
  }
}

/// Everything that decides, seen before the thread is touched.
package struct CaptureConditions: Hashable, Sendable {
  /// The letter of `stat`.
  package var state: UInt8
  package var systemCall: SystemCallState
  package var descriptorKind = DescriptorKind.unknown
  /// 0: nobody.
  package var tracer: Int32 = 0
  package var isFrozen = false
  package var isDumpingCore = false
  package var isKernelThread = false
  /// Its system calls have other numbers, so none of the rules below can be trusted.
  package var isThirtyTwoBit = false
  /// It waits for a page that userfaultfd(2) must bring.
  package var isWaitingForPage = false

  package init(state: UInt8, systemCall: SystemCallState) {
    self.state = state
    self.systemCall = systemCall
  }
}

/// The ways to try, best first, and why the thread is not stopped if `ptrace` is not among them.
package struct CapturePlan: Hashable, Sendable {
  package var ways: [CaptureWay]
  package var reasonNotToStop: CaptureFailure?
}

package enum CapturePolicy {
  package static func plan(_ conditions: CaptureConditions, _ rules: CaptureRules) -> CapturePlan {
    if conditions.isKernelThread { return CapturePlan(ways: [], reasonNotToStop: .kernelThread) }
    if conditions.isThirtyTwoBit { return CapturePlan(ways: [], reasonNotToStop: .thirtyTwoBit) }
    if isDead(conditions.state) { return CapturePlan(ways: [], reasonNotToStop: .gone) }
    let reason = reasonNotToStop(conditions, rules)
    let stop: [CaptureWay] = reason == nil ? [.ptrace] : []
    let isRunning = conditions.systemCall == .running
    let sample: [CaptureWay] = isRunning && !conditions.isDumpingCore ? [.perf] : []
    return CapturePlan(ways: sample + stop + (isRunning ? [] : [.syscallFile]), reasonNotToStop: reason)
  }

  static func isDead(_ state: UInt8) -> Bool {
    state == UInt8(ascii: "Z") || state == UInt8(ascii: "X")
  }

  private static func reasonNotToStop(
    _ conditions: CaptureConditions, _ rules: CaptureRules
  ) -> CaptureFailure? {
    // Another tracer has it, whatever else is true; a core dump needs every thread to reach its end.
    if conditions.tracer != 0 { return .traced(by: conditions.tracer) }
    if conditions.isDumpingCore { return .dumpingCore }
    if conditions.isFrozen { return .frozen }
    switch conditions.state {
    // The stop would come only when the wait ends, and until then the thread cannot be let go either.
    case UInt8(ascii: "D"): return .uninterruptible
    case UInt8(ascii: "T") where !rules.isDump: return .stoppedBySignal
    case UInt8(ascii: "R"), UInt8(ascii: "S"), UInt8(ascii: "T"): break
    default: return .uninterruptible
    }
    // An interrupted fault of a system call is tried again in the kernel and never reaches the stop; the interruption
    // stays pending, so that the thread, which slept, would spin there (fs/userfaultfd.c, `handle_userfault`).
    if conditions.isWaitingForPage, case .inside = conditions.systemCall { return .waitingForPage }
    if rules.isParked { return .parked }
    // A thread that a signal has stopped has left its call already.
    if case .inside(let number) = conditions.systemCall, conditions.state != UInt8(ascii: "T"),
      !survivesStop(number, conditions.descriptorKind)
    {
      return .inFragileCall(number: number)
    }
    return rules.mayStop ? nil : conditions.systemCall == .running ? .running : .stopsForbidden
  }

  /// True for blocking calls that the kernel starts again after a stop, unseen by the program (signal(7), "Interruption
  /// of system calls", and each tried). Any other call, also one not known here, is left alone: many drivers answer
  /// an interruption with EINTR.
  static func survivesStop(_ number: Int, _ descriptorKind: DescriptorKind) -> Bool {
    switch SystemCallEffect.ofStop[number] {
    case .restarts: true
    // Sockets may have a timeout (SO_RCVTIMEO, SO_SNDTIMEO), which turns the restart into EINTR. It cannot be seen
    // from outside.
    case .failsOnSockets: descriptorKind == .other
    case .fails, .comesBackShort, nil: false
    }
  }

  /// Calls that answer −EINTR only when they have done nothing, so that starting them again is right.
  package static func mayStartAgain(_ number: Int) -> Bool {
    switch SystemCallEffect.ofStop[number] {
    case .fails, .failsOnSockets, .comesBackShort: true
    case .restarts, nil: SystemCallEffect.failWhileRunning.contains(number)
    }
  }
}

/// What a stop does to a system call in which the thread is blocked.
private enum SystemCallEffect {
  case restarts
  case fails
  case failsOnSockets
  case comesBackShort

  static let ofStop: [Int: SystemCallEffect] = {
    var table: [Int: SystemCallEffect] = [:]
    for number in restarting { table[number] = .restarts }
    for number in failing { table[number] = .fails }
    for number in failingOnSockets { table[number] = .failsOnSockets }
    for number in shortened { table[number] = .comesBackShort }
    return table
  }()

  private typealias Call = SystemCallNumber

  private static let restarting = [
    Call.poll, Call.ppoll, Call.select, Call.pselect6, Call.futex, Call.futexWait, Call.futexWaitv,
    Call.nanosleep, Call.clockNanosleep, Call.restartSyscall, Call.pause, Call.rtSigsuspend, Call.msgrcv,
    Call.msgsnd, Call.mqTimedsend, Call.mqTimedreceive, Call.wait4, Call.waitid, Call.flock, Call.fcntl,
    Call.openat,
  ]
  private static let failing = [
    Call.epollWait, Call.epollPwait, Call.epollPwait2, Call.semop, Call.semtimedop, Call.rtSigtimedwait,
    Call.ioGetevents, Call.ioPgetevents, Call.ioUringEnter,
  ]
  private static let failingOnSockets = [
    Call.read, Call.readv, Call.preadv, Call.preadv2, Call.pread64, Call.recvfrom, Call.recvmsg,
    Call.recvmmsg, Call.accept, Call.accept4, Call.connect,
  ]
  private static let shortened = [
    Call.write, Call.writev, Call.pwrite64, Call.pwritev, Call.pwritev2, Call.sendto, Call.sendmsg,
    Call.sendmmsg, Call.sendfile, Call.splice, Call.tee, Call.vmsplice, Call.copyFileRange,
  ]
  /// Long work in the kernel that looks for a pending signal on its way: madvise(2) with MADV_POPULATE_*,
  /// fallocate(2) on tmpfs. Done twice they do what they do once.
  static let failWhileRunning: Set<Int> = [Call.madvise, Call.fallocate]
}
