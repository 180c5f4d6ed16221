// Which kind of wait a kernel function makes: all that `/proc/PID/task/TID/wchan` tells of a blocked thread.

internal import Linux
package import StallCore

/// The innermost kernel function in which a thread sleeps, outside the scheduler (fs/proc/base.c, `proc_pid_wchan`).
package enum KernelFunction {
  /// Names of the kernels from 5.4 to 6.18 (fs/eventpoll.c, fs/select.c, io_uring/io_uring.c, kernel/futex, …). A function
  /// that serves waits of several kinds, such as `wait_woken`, is not among them.
  private static let kinds: [(kind: WaitKind, functions: [StaticString])] = [
    (.epoll, ["do_epoll_wait", "ep_poll"]),
    (.poll, ["poll_schedule_timeout", "do_sys_poll", "do_poll", "do_select", "core_sys_select"]),
    (.ring, ["io_cqring_wait"]),
    (.futex, ["futex_do_wait", "futex_wait_queue", "futex_wait_queue_me", "futex_wait", "__futex_wait"]),
    (.sleep, ["hrtimer_nanosleep", "do_nanosleep", "alarm_timer_nsleep"]),
    (.signal, ["do_sigtimedwait", "sigsuspend", "__do_sys_pause", "__x64_sys_pause"]),
    (.children, ["do_wait", "kernel_wait4", "kernel_waitid"]),
    (.accept, ["inet_csk_accept"]),
    (.message, ["do_msgrcv", "do_semtimedop", "__do_semtimedop", "read_events"]),
    (
      .input,
      [
        "anon_pipe_read", "pipe_read", "unix_stream_read_generic", "__skb_wait_for_more_packets",
        "sk_wait_data",
        "eventfd_read", "timerfd_read", "do_wait_intr_irq", "do_wait_intr", "signalfd_dequeue",
        "inotify_read", "n_tty_read", "evdev_read",
      ]
    ),
  ]

  /// Nil for a function that is not known, or that serves waits of several kinds. Compilers add suffixes (`.isra.0`).
  package static func kind(of text: Span<UInt8>) -> WaitKind? {
    for (kind, functions) in kinds where functions.contains(where: { isName($0, text) }) { return kind }
    return nil
  }

  private static func isName(_ name: StaticString, _ text: Span<UInt8>) -> Bool {
    let length = name.utf8CodeUnitCount
    guard text.matches(name, at: 0) else { return false }
    return text.count == length || text[length] == UInt8(ascii: ".") || text[length] == UInt8(ascii: "\n")
  }
}
