// What names of kernel functions tell of a wait.

import Observation
import StallCore
import Testing

@Suite struct KernelFunctionTests {
  @Test(
    arguments: [
      ("do_epoll_wait", .epoll), ("ep_poll", .epoll), ("poll_schedule_timeout.constprop.0", .poll),
      ("futex_do_wait", .futex), ("hrtimer_nanosleep", .sleep), ("do_sigtimedwait.isra.0", .signal),
      ("__do_sys_pause\n", .signal), ("do_wait", .children), ("do_wait_intr_irq", .input),
      ("anon_pipe_read", .input), ("inet_csk_accept", .accept), ("do_msgrcv", .message),
      ("io_cqring_wait", .ring),
      // Reads, writes and connects alike.
      ("wait_woken", nil), ("do_waiting", nil), ("do_wai", nil), ("", nil), ("0", nil),
    ] as [(String, WaitKind?)])
  func kindOfWait(_ name: String, _ kind: WaitKind?) {
    #expect(KernelFunction.kind(of: Array(name.utf8).span) == kind)
  }
}
