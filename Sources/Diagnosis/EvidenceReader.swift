// Gathers evidence from `/proc`: only files and links whose reading cannot block on the target.

internal import Linux
package import StallCore

package struct EvidenceReader {
  /// Copies bytes of the target's memory; nil if they cannot be had. The caller decides how, since such a read can
  /// block.
  package typealias MemoryReader = (_ address: UInt64, _ length: Int) -> [UInt8]?

  private let processID: Int32
  private let threadID: Int32
  private let memory: MemoryReader
  private let identities: ThreadIdentities

  package init(processID: Int32, threadID: Int32, memory: @escaping MemoryReader) {
    self.processID = processID
    self.threadID = threadID
    self.memory = memory
    identities = ThreadIdentities(processID: processID)
  }

  /// `channel` is where the thread slept before anything was done about it; `functions` are the names of the top of the
  /// stack, innermost first.
  package func gather(
    _ observation: ThreadObservation, sleepingIn channel: ByteString?, stallClass: StallClass?,
    userShare: Double? = nil, functions: [ByteString]
  ) -> Evidence {
    var evidence = Evidence(
      threadID: threadID, state: observation.state, activity: observation.activity, stallClass: stallClass,
      userShare: userShare, functions: functions)
    guard observation.isBlocked else { return evidence }
    let status = try? ProcessStatus(path: "/proc/\(processID)/task/\(threadID)/status")
    evidence.isDumpingCore = status?.isDumpingCore ?? false
    evidence.waitChannel = channel
    addWait(observation.descriptors, to: &evidence)
    if evidence.holder != nil { addChain(to: &evidence) }
    return evidence
  }

  /// What the call waits for, but for what a holder of it waits for itself.
  private func addWait(_ descriptors: DescriptorSet?, to evidence: inout Evidence) {
    guard let call = evidence.call else { return }
    evidence.descriptorCount = descriptors?.count
    evidence.descriptor = descriptorNumber(call, descriptors).flatMap(link)
    if let address = LockWord.address(in: call), let bytes = memory(address, LockWord.length) {
      let lock = LockWord(call, bytes: bytes, functions: evidence.functions)
      evidence.lock = lock
      evidence.holder = lock.thread.flatMap(identities.liveThread)
    }
    if call.number == SystemCallNumber.wait4 || call.number == SystemCallNumber.waitid {
      evidence.child = child(of: call)
    }
  }

  private func addChain(to evidence: inout Evidence) {
    let links = LockChainReader(processID: processID, memory: memory, identities: identities)
    let chain = LockChain(from: threadID, wait: links.wait)
    // It may have moved since it was looked at.
    guard chain.waits.first?.holder == evidence.holder else { return }
    evidence.chain = chain
    guard let last = chain.lastHolder, let activity = links.activity(of: last.id) else { return }
    let reader = EvidenceReader(processID: processID, threadID: last.id, memory: memory)
    evidence.lastHolder = CauseRules.cause(of: reader.evidence(doing: activity))
  }

  /// Of a thread that others wait for; no chain is followed from here, which might not end.
  private func evidence(doing activity: Activity) -> Evidence {
    let stat = (try? readPseudoFile("/proc/\(processID)/task/\(threadID)/stat", limit: 4096)).flatMap {
      ThreadStat($0.span)
    }
    var evidence = Evidence(
      threadID: threadID, state: stat.flatMap { ThreadState(rawValue: $0.state) } ?? .sleeping,
      activity: activity)
    guard activity != .running else { return evidence }
    evidence.waitChannel = waitChannel
    addWait(nil, to: &evidence)
    return evidence
  }

  /// The kernel function in which the thread sleeps; nil where the kernel does not tell it, or tells only the way in that
  /// all system calls have in common.
  package var waitChannel: ByteString? {
    guard let channel = text("task/\(threadID)/wchan") else { return nil }
    return ["0", "do_syscall_64", "x64_sys_call"].contains(channel) ? nil : channel
  }

  private func text(_ file: String) -> ByteString? {
    guard var bytes = try? readPseudoFile("/proc/\(processID)/\(file)", limit: 4096) else { return nil }
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    return ByteString(bytes)
  }

  /// Which descriptor the call is about: its first argument, or the only one of a poll.
  private func descriptorNumber(_ call: BlockedCall, _ descriptors: DescriptorSet?) -> Int32? {
    typealias Number = SystemCallNumber
    switch call.number {
    case Number.poll, Number.ppoll, Number.select, Number.pselect6:
      return descriptors.flatMap { $0.count == 1 ? $0.first : nil }
    case Number.wait4, Number.waitid, Number.futex, Number.futexWait, Number.futexWaitv, Number.nanosleep,
      Number.clockNanosleep, Number.pause, Number.rtSigsuspend, Number.rtSigtimedwait, Number.semop,
      Number.semtimedop, Number.msgsnd, Number.msgrcv, Number.ioGetevents, Number.ioPgetevents, Number.openat,
      Number.sync, Number.restartSyscall:
      return nil
    default: return Int32(exactly: call.arguments.first)
    }
  }

  private func link(_ descriptor: Int32) -> DescriptorLink? {
    guard descriptor >= 0, let text = try? readLink("/proc/\(processID)/task/\(threadID)/fd/\(descriptor)")
    else {
      return nil
    }
    return DescriptorLink(number: descriptor, text: ByteString(text))
  }

  /// The child that the call names, or the first one. `children` lists them by their ids as we see them.
  private func child(of call: BlockedCall) -> Evidence.Thread? {
    let children = text("task/\(threadID)/children")?.bytes.split(separator: UInt8(ascii: " ")) ?? []
    let ids = children.compactMap { Int32(String(decoding: $0, as: UTF8.self)) }
    // wait4(pid, …), and waitid(P_PID = 1, pid, …).
    let wanted = call.number == SystemCallNumber.wait4 ? call.arguments.first : call.arguments.second
    let named = ids.first { UInt64($0) == wanted }
    guard let id = named ?? ids.first else { return nil }
    var name = try? readPseudoFile("/proc/\(id)/comm", limit: 64)
    if name?.last == UInt8(ascii: "\n") { name?.removeLast() }
    return Evidence.Thread(id: id, name: name.map { ByteString($0) })
  }
}

extension LockWord {
  /// The thread it names, as the target knows it.
  var thread: Int32? {
    switch self {
    case .mutex(let owner), .readWriteLock(let owner): owner
    case .inheritingMutex(let id), .threadEnd(let id): id
    case .other: nil
    }
  }
}
