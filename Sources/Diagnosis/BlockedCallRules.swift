// The rules for a thread that is blocked in a system call: which one, on what.

internal import StallCore

struct BlockedCallRules {
  let evidence: Evidence
  let call: BlockedCall

  var cause: Cause {
    switch Site(call, descriptors: nil)?.kind {
    case .sleep: make(.sleep, "sleeping", .high)
    case .epoll, .ring: make(.otherLoop, "waiting for events of another loop", .high)
    case .poll: poll
    case .accept: make(.networkReceive, "waiting for someone to connect", .high)
    case .input: input
    case .message: queue
    case .children: child
    case .signal: make(.unknown, "waiting for a signal", .medium)
    case .futex: LockRules(evidence: evidence, facts: facts).cause
    case .other, .mainQueue, .unseen, nil: withoutSite
    }
  }

  /// `read(17)`.
  private var callText: String {
    let name = SystemCallNumber.name(of: call.number) ?? "system call \(call.number)"
    return evidence.descriptor.map { "\(name)(\($0.number))" } ?? name
  }

  private var facts: [String] {
    let link = evidence.descriptor.map { ["descriptor \($0.number) is \($0.text.escaped)"] } ?? []
    let state = evidence.state == .uninterruptible ? ["state D, which cannot be interrupted"] : []
    return ["blocked in \(callText)"] + link + state + evidence.channelFact
  }

  private func make(_ kind: CauseKind, _ summary: String, _ confidence: Confidence) -> Cause {
    Cause(kind, "\(summary): \(callText)", confidence: confidence, evidence: facts)
  }

  /// A poll on one descriptor is how libraries wait for one answer.
  private var poll: Cause {
    guard let descriptor = evidence.descriptor else {
      let count = evidence.descriptorCount.map { " of \($0) descriptors" } ?? ""
      return make(.otherLoop, "waiting for events\(count)", .medium)
    }
    switch descriptor.kind {
    case .socket: return make(.networkReceive, "waiting for an answer on a socket", .medium)
    case .pipe: return make(.pipe, "waiting for a pipe", .medium)
    case .terminal: return make(.terminal, "waiting for its terminal", .medium)
    default: return make(.otherLoop, "waiting for events of \(descriptor.description)", .medium)
    }
  }

  private var isNamedPipe: Bool {
    evidence.isWaiting(in: "pipe_", "anon_pipe_", "fifo_", "wait_for_partner")
  }

  private var input: Cause {
    let call = call.number
    guard call == SystemCallNumber.read || call == SystemCallNumber.readv else {
      return make(.networkReceive, "waiting for data on a socket", .high)
    }
    guard let descriptor = evidence.descriptor else { return bySurroundings("reading") }
    switch descriptor.kind {
    case .pipe: return make(.pipe, "reading from an empty pipe", .high)
    case .socket: return make(.networkReceive, "waiting for data on a socket", .high)
    case .terminal: return make(.terminal, "waiting for input from its terminal", .high)
    case .eventCounter, .timer, .signals, .fileEvents, .epoll:
      return make(.otherLoop, "waiting for \(descriptor.description)", .high)
    case .file where isNamedPipe: return make(.pipe, "reading from an empty pipe", .high)
    case .file: return disk("reading \(descriptor.description)")
    case .device: return make(.device, "reading from \(descriptor.description)", .medium)
    case .other: return bySurroundings("reading from \(descriptor.description)")
    }
  }

  private var output: Cause {
    guard let descriptor = evidence.descriptor else { return bySurroundings("writing") }
    switch descriptor.kind {
    case .pipe: return make(.pipe, "writing to a full pipe", .high)
    case .socket: return make(.networkSend, "sending to a socket whose other end does not read", .high)
    case .terminal: return make(.terminal, "writing to a terminal that takes no output", .high)
    case .file where isNamedPipe: return make(.pipe, "writing to a full pipe", .high)
    case .file: return disk("writing \(descriptor.description)")
    case .device: return make(.device, "writing to \(descriptor.description)", .medium)
    default: return bySurroundings("writing to \(descriptor.description)")
    }
  }

  /// A file in state D waits for its storage; one that can be interrupted may be a FIFO, FUSE or a network mount.
  private func disk(_ summary: String) -> Cause {
    make(.disk, summary, evidence.state == .uninterruptible ? .high : .medium)
  }

  private func bySurroundings(_ summary: String) -> Cause {
    var cause = CauseRules.byWaitChannel(evidence)
    cause.summary = cause.kind == .unknown ? "\(summary): \(callText)" : "\(cause.summary): \(callText)"
    cause.evidence = facts
    return cause
  }

  private var queue: Cause {
    switch call.number {
    case SystemCallNumber.semop, SystemCallNumber.semtimedop:
      make(.semaphore, "waiting for a System V semaphore", .high)
    case SystemCallNumber.ioGetevents, SystemCallNumber.ioPgetevents:
      make(.disk, "waiting for asynchronous disk operations", .medium)
    default: make(.otherLoop, "waiting for a message", .medium)
    }
  }

  private var child: Cause {
    guard let child = evidence.child else { return make(.child, "waiting for a child process", .high) }
    let name = child.name.map { " \"\($0.escaped)\"" } ?? ""
    return make(.child, "waiting for its child\(name) (pid \(child.id))", .high)
  }

  private var withoutSite: Cause {
    typealias Number = SystemCallNumber
    switch call.number {
    case Number.connect: return make(.networkConnect, "connecting to someone who does not answer", .high)
    case Number.sendto, Number.sendmsg, Number.sendmmsg:
      return make(.networkSend, "sending to a socket whose other end does not read", .high)
    case Number.write, Number.writev, Number.sendfile, Number.vmsplice, Number.pwrite64, Number.pwritev,
      Number.pwritev2:
      return output
    case Number.pread64, Number.preadv, Number.preadv2:
      return disk("reading \(evidence.descriptor?.description ?? "a file")")
    case Number.fsync, Number.fdatasync, Number.syncFileRange:
      return make(.disk, "flushing \(evidence.descriptor?.description ?? "a file") to disk", .high)
    case Number.sync, Number.syncfs: return make(.disk, "flushing file systems to disk", .high)
    case Number.flock, Number.fcntl:
      return make(.mutex, "waiting for the lock of \(evidence.descriptor?.description ?? "a file")", .medium)
    case Number.openat where isNamedPipe:
      return make(.pipe, "opening a named pipe whose other end is not open", .high)
    default: return bySurroundings("blocked")
    }
  }
}
