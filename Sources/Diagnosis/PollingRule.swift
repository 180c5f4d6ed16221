// When a busy thread is one that asks for events again and again instead of waiting for them.

package import StallCore

package enum PollingRule {
  /// Calls that wait for events, by the names of their functions in C libraries.
  private static let polls: Set<ByteString> = [
    "epoll_wait", "epoll_pwait", "epoll_pwait2", "__GI_epoll_wait", "poll", "__poll", "__GI___poll", "ppoll",
    "__ppoll", "select", "__select", "pselect", "__pselect",
  ]
  /// A wait that does not wait is work for the kernel.
  private static let leastKernelShare = 0.3

  /// Nil: it does something else. `functions` are the names of its stack, innermost first; a busy thread that is found in
  /// a wait for events does not wait there.
  package static func cause(of busy: BusyThread, functions: some Sequence<ByteString>) -> Cause? {
    guard busy.state == .busy, let poll = functions.prefix(2).first(where: polls.contains),
      busy.kernelShare ?? 1 >= leastKernelShare
    else { return nil }
    var evidence = [
      "\(poll.escaped) is on top of its stack, and the thread uses \(Int(busy.percent.rounded())) % of a core"
    ]
    if let rate = busy.switchesPerSecond {
      evidence.append("put on a CPU \(Int(rate.rounded())) times a second")
    }
    if let share = busy.kernelShare {
      evidence.append("\(Int((share * 100).rounded())) % of its CPU time in the kernel (from ticks)")
    }
    return Cause(
      .polling, "spinning: \(poll.escaped) returns at once, again and again (polling with timeout 0)",
      confidence: busy.kernelShare == nil ? .low : .medium, evidence: evidence)
  }
}
