// What a process does to itself before it reads bytes that may be meant to harm it.

internal import CLinux
internal import Glibc

package enum Sandbox {
  /// More than the address space of a process that has a gigabyte of debug information and its companion mapped.
  private static let mostAddressSpaceBytes: rlim_t = 8 << 30
  /// What it may allocate, and map privately for writing.
  private static let mostDataBytes: rlim_t = 1 << 30

  /// For good: no environment, no core, no capabilities, no way to new rights, and no system call but those that
  /// computing over given bytes and open files needs. open(2) asks `openForUs` instead: a descriptor, or a negative errno.
  ///
  /// Answers what could not be given up, and goes on without: every limit is one more, and none is the last.
  package static func enter(openForUs: @convention(c) (UnsafePointer<CChar>?) -> Int32) -> [Errno] {
    // Among others DEBUGINFOD_URLS, which would make libdw use the network.
    clearenv()
    limit(Int32(RLIMIT_CORE.rawValue), to: 0)
    limit(Int32(RLIMIT_AS.rawValue), to: mostAddressSpaceBytes)
    limit(Int32(RLIMIT_DATA.rawValue), to: mostDataBytes)
    var failures: [Errno] = []
    do throws(Errno) { _ = try systemCall { clinux_drop_capabilities() } } catch { failures.append(error) }
    do throws(Errno) { _ = try systemCall { unsafe clinux_enter_sandbox(openForUs) } } catch {
      failures.append(error)
    }
    return failures
  }

  private static func limit(_ resource: Int32, to most: rlim_t) {
    var value = rlimit(rlim_cur: most, rlim_max: most)
    unsafe setrlimit(__rlimit_resource_t(UInt32(resource)), &value)
  }

  /// Ends this process when it has computed for so long without asking for more (setitimer(2), ITIMER_PROF); waiting
  /// does not count.
  package static func endAfterCPUTime(seconds: Int) {
    var timer = itimerval(it_interval: timeval(), it_value: timeval(tv_sec: seconds, tv_usec: 0))
    unsafe setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &timer, nil)
  }
}
