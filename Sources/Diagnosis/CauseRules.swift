// The rules from evidence to cause: what a thread mostly did, then what it is blocked in.

package import StallCore

package enum CauseRules {
  package static func cause(of evidence: Evidence) -> Cause {
    if evidence.isDumpingCore { return crashed }
    switch evidence.stallClass {
    case .cpu: return computing(evidence)
    case .starved: return starved(evidence)
    case .blocked, .mixed, nil: break
    }
    switch evidence.activity {
    case .running: return computing(evidence)
    case .blockedOutsideCall: return pageFault(evidence)
    case .unknown, .blockedByKind: return byWaitChannel(evidence)
    case .blocked:
      guard let call = evidence.call else { return byWaitChannel(evidence) }
      return BlockedCallRules(evidence: evidence, call: call).cause
    }
  }

  private static let crashed = Cause(
    .unknown, "it has crashed, and its core dump is being written", confidence: .high,
    evidence: ["CoreDumping is 1 in its status"])

  private static func starved(_ evidence: Evidence) -> Cause {
    let facts = ["most of the time was spent in the run queue"] + evidence.quotaFact
    guard evidence.throttledShare >= 0.5 else {
      return Cause(
        .starved, "ready to run, but other work had the CPU", confidence: .high, evidence: facts)
    }
    return Cause(
      .throttled, "ready to run, but the CPU quota of its cgroup was used up", confidence: .high,
      evidence: facts)
  }

  private static func computing(_ evidence: Evidence) -> Cause {
    let place = evidence.functions.first.map { " in \($0.escaped)" } ?? ""
    let certainty: Confidence = evidence.stallClass == .cpu ? .high : .medium
    var facts =
      [evidence.stallClass == .cpu ? "most of the time was spent on the CPU" : "seen on the CPU"]
      + evidence.quotaFact
    guard let share = evidence.userShare else {
      return Cause(.userCPU, "computing\(place)", confidence: min(certainty, .medium), evidence: facts)
    }
    facts.append("\(Int((share * 100).rounded())) % of its CPU time in user mode (from ticks)")
    return share >= 0.5
      ? Cause(.userCPU, "computing\(place)", confidence: certainty, evidence: facts)
      : Cause(.kernelCPU, "the kernel works for it\(place)", confidence: certainty, evidence: facts)
  }

  private static func pageFault(_ evidence: Evidence) -> Cause {
    let isOnDisk = evidence.state == .uninterruptible
    return Cause(
      .pageFault, "waiting for a page of its memory", confidence: isOnDisk ? .high : .medium,
      evidence: ["blocked outside any system call", "state \(Character(evidence.state))"]
        + evidence.channelFact)
  }

  /// Where the system call may not be seen, the kernel function it sleeps in tells the kind of wait. Names differ
  /// between kernels, so they count by their beginning.
  private static let waitChannels: [(channels: [String], kind: CauseKind, summary: String)] = [
    (["futex_", "__futex_"], .condition, "waiting for another thread"),
    (["hrtimer_nanosleep", "do_nanosleep"], .sleep, "sleeping"),
    (["do_wait", "kernel_wait4", "do_waitid"], .child, "waiting for a child process"),
    (["pipe_", "anon_pipe_", "fifo_", "wait_for_partner"], .pipe, "waiting for the other end of a pipe"),
    (["n_tty_", "tty_"], .terminal, "waiting for its terminal"),
    (["inet_stream_connect", "inet_wait_for_connect", "unix_wait_for_peer"], .networkConnect, "connecting"),
    (
      ["sk_stream_wait_memory", "sock_alloc_send"], .networkSend,
      "sending to a socket whose other end does not read"
    ),
    (
      [
        "sk_wait_data", "unix_stream_", "unix_dgram_", "inet_csk_accept", "skb_wait_for_more",
        "__skb_wait_for_more",
      ],
      .networkReceive, "waiting for a socket"
    ),
    (
      ["ep_poll", "do_epoll_wait", "poll_schedule", "do_sys_poll", "do_select", "io_cqring_wait"], .otherLoop,
      "waiting for events"
    ),
    (
      ["folio_wait", "wait_on_page", "io_schedule", "jbd2_", "nfs_", "rpc_"], .disk,
      "waiting for a disk or file server"
    ),
  ]

  static func byWaitChannel(_ evidence: Evidence) -> Cause {
    let known = waitChannels.first { rule in
      rule.channels.contains { evidence.waitChannel?.bytes.starts(with: $0.utf8) ?? false }
    }
    if let known { return Cause(known.kind, known.summary, confidence: .low, evidence: evidence.channelFact) }
    if evidence.state == .uninterruptible {
      return Cause(
        .disk, "waiting for a disk or device", confidence: .low,
        evidence: ["state D, which cannot be interrupted"] + evidence.channelFact)
    }
    return Cause(
      .unknown, "blocked; it is not known in what", confidence: .low, evidence: evidence.channelFact)
  }
}

extension Evidence {
  fileprivate var quotaFact: [String] {
    guard let throttled, throttled.times > 0 else { return [] }
    let milliseconds = throttled.time.nanoseconds / 1_000_000
    return ["its quota was used up \(throttled.times) times, for \(milliseconds) ms on all CPUs together"]
  }

  var channelFact: [String] { waitChannel.map { ["sleeps in the kernel's \($0.escaped)"] } ?? [] }
}

extension Character {
  fileprivate init(_ state: ThreadState) { self.init(Unicode.Scalar(state.rawValue)) }
}

extension Confidence: Comparable {
  package static func < (left: Confidence, right: Confidence) -> Bool { left.order < right.order }

  private var order: Int {
    switch self {
    case .low: 0
    case .medium: 1
    case .high: 2
    }
  }
}
