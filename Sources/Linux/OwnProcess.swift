// What a process of ours does to itself.

internal import CLinux
internal import Glibc

package enum OwnProcess {
  /// The one that the calling thread runs on now.
  package static var processor: Int32 { clinux_processor_of_caller() }

  /// The words of our command line, byte for byte.
  package static var arguments: [[UInt8]] {
    var arguments: [[UInt8]] = []
    while let word = unsafe clinux_own_argument(Int32(arguments.count)) {
      unsafe arguments.append(
        UnsafeBufferPointer(start: word, count: strlen(word)).map { UInt8(bitPattern: $0) })
    }
    return arguments
  }

  /// The signal has no effect on us: whoever started us wanted it so, or we did.
  package static func ignores(_ signal: Int32) -> Bool { clinux_is_ignored(signal) }

  /// Out of reach of the terminal and of those who clean up by name, but not longer-lived than its parent: the kernel
  /// kills it when the thread that started it ends, which matters only while it is blocked.
  package static func becomeWorker(named name: StaticString) {
    for number in [
      SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE, SIGXFSZ, SIGUSR1, SIGUSR2,
    ] {
      _ = Glibc.signal(number, SIG_IGN)
    }
    clinux_unblock_all_signals()
    _ = clinux_set_parent_death_signal(SIGKILL)
    // Started through /proc/self/exe, it would be listed as "exe".
    _ = unsafe clinux_set_thread_name(name.utf8Start)
  }

  /// Nothing that a library says when it gives up reaches whoever started us.
  package static func beSilent() {
    let nowhere = unsafe open("/dev/null", O_WRONLY | O_CLOEXEC)
    if nowhere >= 0 { _ = dup2(nowhere, STDERR_FILENO) }
    close(nowhere)
  }

  /// On a busy machine a thread that we hold would wait for our turn. Refused without CAP_SYS_NICE, and that is fine.
  package static func raisePriority() { setNice(-20) }

  /// Of a process that holds nobody, and of all that it starts: whoever else wants the CPU has it.
  package static func giveWay() { setNice(19) }

  private static func setNice(_ value: Int32) {
    _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, value)
  }

  /// For a process that has started and now waits: most code that starting took is not needed again.
  package static func releaseCodePages() { clinux_release_code_pages() }

  /// Without running anything on the way out.
  package static func endAtOnce() -> Never { _exit(0) }
}
