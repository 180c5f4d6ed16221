// Copies many threads of a process at once, for dumps.

internal import Linux
internal import Stacks
internal import StallCore

/// A thread that a dump asks for.
struct DumpedThread {
  var threadID: Int32
  var role: ThreadRole
  /// The watch has seen it in its loop's wait.
  var isParked: Bool
}

extension ThreadCamera {
  /// One question for all that nobody need be held for; the others are asked for one by one. Waits for a helper that is not
  /// there yet.
  func capture(together threads: [DumpedThread]) -> [CapturedThread] {
    let began = Instant.now
    let results = copy(together: threads)
    return threads.map { thread in
      guard let result = results[thread.threadID] else {
        return capture(thread.threadID, role: thread.role, isParked: thread.isParked, isDump: true)
      }
      return CapturedThread(
        threadID: thread.threadID, name: name(of: thread.threadID, result), role: thread.role, result: result,
        maps: maps(for: thread.threadID, result), at: began)
    }
  }

  /// What the iterator saw is proven to be of this thread where its registers were used.
  private func name(of thread: Int32, _ result: Result<RawCapture, CaptureFailure>) -> ByteString {
    let seen = (try? result.get())?.way == .taskIterator ? crowd?.name(of: thread) : nil
    return seen ?? name(of: thread)
  }

  /// What is certain after one question; of threads that have not run since the dump before, what was certain then.
  private func copy(
    together threads: [DumpedThread]
  ) -> [Int32: Result<RawCapture, CaptureFailure>] {
    guard threads.count > 1, denied == nil, takesStacks, !handle.hasEnded else { return [:] }
    if crowd == nil { crowd = blockedThreads?.all() }
    // Whoever may be held, and is not seen to be blocked, is.
    if mayStop, crowd == nil { return [:] }
    let members = threads.map {
      crowd?.member($0.threadID, isParked: $0.isParked)
        ?? GroupMember(threadID: $0.threadID, isParked: $0.isParked)
    }
    var results: [Int32: Result<RawCapture, CaptureFailure>] = [:]
    for member in members {
      if let copy = lastCopies.copy(of: member) { results[member.threadID] = .success(copy) }
    }
    let others = members.filter { results[$0.threadID] == nil }
    if others.isEmpty, members.count == crowd?.count { mappings.nobodyHasRun() }
    for (member, result) in copyAnew(others) { results[member.threadID] = result }
    // Its id may have been somebody else's by then.
    if handle.hasEnded { return [:] }
    for member in members {
      if let copy = try? results[member.threadID]?.get() { newCopies.keep(copy, of: member) }
    }
    return results
  }

  private func copyAnew(
    _ members: [GroupMember]
  ) -> [(GroupMember, Result<RawCapture, CaptureFailure>)] {
    let rules = CaptureRules(mayStop: mayStop, isDump: true)
    guard !members.isEmpty,
      let group = try? helper.capture(
        processID: handle.id, together: members, rules: rules, asksForMaps: mappings.isWantedByDump,
        deadline: deadlineTogether)
    else { return [] }
    mappings.take(group.maps)
    if group.results.count(where: { $0.isMove }) * 4 > members.count { crowd = nil }
    return zip(members, group.results).filter { $1.isCertain(of: $0) }
  }
}

extension Result<RawCapture, CaptureFailure> {
  fileprivate var isMove: Bool { if case .failure(.moved) = self { true } else { false } }

  /// Asked for alone, the thread would fare no better, nor would the kernel's stack of it be read.
  fileprivate func isCertain(of member: GroupMember) -> Bool {
    switch self {
    case .success: true
    case .failure(.running), .failure(.runningUnsampled), .failure(.gone): member.blocked == nil
    case .failure: false
    }
  }
}
