// What a call can be that the kernel continues after a stop, when it no longer shows which.

extension BlockedCall {
  /// No process has memory below it (vm.mmap_min_addr), and no clock has a number as large.
  private static let lowestAddress: UInt64 = 4096
  /// RLIMIT_NOFILE can be no larger (fs.nr_open).
  private static let mostDescriptors: UInt64 = 1 << 30

  /// Whether this `restart_syscall` may be a wait of that kind. Those that are continued so (restart_syscall(2)) are
  /// `poll(set, count, …)`, `futex(word, operation, …)` with a timeout, `nanosleep(time, rest)` and
  /// `clock_nanosleep(clock, …)`; they keep their arguments and their place.
  func mayContinue(_ kind: WaitKind) -> Bool {
    let isOnClock = arguments.first < Self.lowestAddress
    let isRestOrNull = arguments.second == 0 || arguments.second >= Self.lowestAddress
    switch kind {
    case .sleep: return isOnClock || isRestOrNull
    case .futex: return !isOnClock && arguments.second < Self.lowestAddress
    case .poll: return !isOnClock && arguments.second != 0 && arguments.second < Self.mostDescriptors
    case .other, .unseen: return true
    case .epoll, .ring, .accept, .input, .message, .children, .signal, .mainQueue: return false
    }
  }
}
