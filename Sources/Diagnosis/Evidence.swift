// What is known about a stalled thread when its cause is judged; whatever could not be had is nil.

package import StallCore

package struct Evidence: Sendable {
  /// Another thread, known by its id as we see it.
  package struct Thread: Hashable, Sendable {
    package var id: Int32
    package var name: ByteString?

    package init(id: Int32, name: ByteString?) {
      self.id = id
      self.name = name
    }
  }

  package var threadID: Int32
  package var state: ThreadState
  package var activity: Activity
  /// The kernel function it sleeps in, `/proc/PID/task/TID/wchan`.
  package var waitChannel: ByteString?
  /// What the first argument of the call refers to, or the only descriptor of a poll.
  package var descriptor: DescriptorLink?
  /// How many descriptors a poll or select waits on.
  package var descriptorCount: Int?
  /// What the thread mostly did during the stall.
  package var stallClass: StallClass?
  /// The part of its CPU time spent in user mode, 0…1; an estimate from ticks.
  package private(set) var userShare: Double?
  /// How often and how long the quota of its cgroup held it back.
  package var throttled: Throttling?
  /// Of the time that this was counted over, 0…1.
  package var throttledShare = 0.0
  /// Function names of the top of the stack, innermost first.
  package var functions: [ByteString]
  package var lock: LockWord?
  /// The live thread that `lock` names.
  package var holder: Thread?
  /// Whom that one waits for, and so on.
  package var chain: LockChain?
  /// What the last holder of the chain does.
  package var lastHolder: Cause?
  /// The child process that is waited for.
  package var child: Thread?
  /// The process has crashed, and the kernel writes what is left of it. Its threads stay where they were.
  package var isDumpingCore = false

  package init(
    threadID: Int32, state: ThreadState, activity: Activity, stallClass: StallClass? = nil,
    userShare: Double? = nil, functions: [ByteString] = []
  ) {
    self.threadID = threadID
    self.state = state
    self.activity = activity
    self.stallClass = stallClass
    self.userShare = userShare.flatMap { (0...1).contains($0) ? $0 : nil }
    self.functions = functions
  }

  /// What is known of the stall as a whole, rather than of one moment of it.
  package mutating func takeTotals(of other: Evidence) {
    (stallClass, userShare) = (other.stallClass, other.userShare)
    (throttled, throttledShare) = (other.throttled, other.throttledShare)
    isDumpingCore = other.isDumpingCore
  }

  /// The system call that it is blocked in. A call that the kernel took up again after a stop shows as
  /// `restart_syscall` with the arguments of the first; which one it is shows where it sleeps.
  package var call: BlockedCall? {
    guard case .blocked(var call) = activity else { return nil }
    if call.number == SystemCallNumber.restartSyscall {
      if isWaiting(in: "hrtimer_nanosleep", "do_nanosleep") { call.number = SystemCallNumber.nanosleep }
      if isWaiting(in: "futex_", "__futex_") { call.number = SystemCallNumber.futex }
      if isWaiting(in: "poll_schedule_timeout", "do_sys_poll", "do_poll") {
        call.number = SystemCallNumber.poll
      }
    }
    return call
  }

  /// With what an older capture of the same wait could read and this one could not. The lock may have gone from hand to hand
  /// since; but where its word names nobody now, who held it then is why the thread waits.
  /// And that a stall which was mostly blocked was caught running says nothing of what it was blocked in.
  package func completed(by older: Evidence?) -> Evidence {
    if let older, stallClass == .blocked, activity == .running, older.activity != .running { return older }
    guard let older, let call, older.call == call else { return self }
    var whole = self
    whole.descriptor = descriptor ?? older.descriptor
    whole.descriptorCount = descriptorCount ?? older.descriptorCount
    whole.child = child ?? older.child
    if lock?.thread == nil, older.holder != nil { (whole.lock, whole.holder) = (older.lock, older.holder) }
    if whole.holder == older.holder, chain == nil {
      (whole.chain, whole.lastHolder) = (older.chain, older.lastHolder)
    }
    return whole
  }

  func isWaiting(in channels: String...) -> Bool {
    guard let waitChannel else { return false }
    return channels.contains { waitChannel.bytes.starts(with: $0.utf8) }
  }

  func hasFunction(_ names: String...) -> Bool {
    functions.contains { function in names.contains { function.bytes.elementsEqual($0.utf8) } }
  }
}
