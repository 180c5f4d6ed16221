// Ends this process by the signal that ended its child, so that callers see what they would have seen without us.

internal import Glibc

enum OwnEnd {
  /// No core of ours is written. As process 1 the kernel ignores the signal, so the status says 128 + n, as shells do.
  static func die(by signal: Int32) -> Never {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    Glibc.signal(signal, SIG_DFL)
    var set = sigset_t()
    unsafe sigemptyset(&set)
    unsafe sigaddset(&set, signal)
    unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
    if getpid() != 1 { kill(getpid(), signal) }
    exit(128 + signal)
  }
}
