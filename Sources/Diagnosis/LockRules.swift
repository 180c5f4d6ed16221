// The rules for a thread that waits on a futex: which kind of lock, and who holds it.

internal import StallCore

struct LockRules {
  let evidence: Evidence
  let facts: [String]

  var cause: Cause {
    switch evidence.lock {
    case .mutex(let owner): lock(.mutex, "a mutex", owner: owner, certain: .high)
    case .inheritingMutex(let owner): lock(.mutex, "a mutex", owner: owner, certain: .high)
    case .readWriteLock(let writer):
      lock(.readWriteLock, "a read-write lock", owner: writer, certain: .medium)
    case .threadEnd: threadEnd
    case .other, nil: byFunctions
    }
  }

  private func lock(_ kind: CauseKind, _ thing: String, owner: Int32?, certain: Confidence) -> Cause {
    guard let owner else {
      let isNamed = evidence.functions.contains { $0.bytes.containsText("lock") }
      return Cause(
        kind, "waiting for \(thing); its word does not say who holds it",
        confidence: isNamed ? .medium : .low,
        evidence: facts + ["the word waited on is that of \(thing) that others wait for, without an owner"])
    }
    guard let holder = evidence.holder else {
      return Cause(
        kind, "waiting for \(thing)", confidence: .low,
        evidence: facts + [
          "the lock names thread \(owner) as its owner, which is no live thread of the process"
        ])
    }
    let fact = "the lock names thread \(owner) as its owner, and that thread lives"
    let name = holder.id == evidence.threadID ? "itself" : Self.text(holder)
    return Cause(
      kind, "waiting for \(thing) held by \(name)", confidence: certain, evidence: facts + [fact])
  }

  private var threadEnd: Cause {
    guard let holder = evidence.holder else { return byFunctions }
    let isJoin = evidence.functions.contains { $0.bytes.containsText("join") }
    return Cause(
      .thread, "waiting for the end of \(Self.text(holder))", confidence: isJoin ? .high : .medium,
      evidence: facts + ["the word waited on holds the id of thread \(holder.id), as in pthread_join"])
  }

  private static func text(_ thread: Evidence.Thread) -> String {
    thread.name.map { "thread \(thread.id) \"\($0.escaped)\"" } ?? "thread \(thread.id)"
  }

  /// Function names, by a part that all variants of libraries and versions share.
  private static let meanings: [(part: StaticString, kind: CauseKind, summary: String)] = [
    ("pthread_join", .thread, "waiting for the end of a thread"),
    ("clockjoin", .thread, "waiting for the end of a thread"),
    ("sem_wait", .semaphore, "waiting for a semaphore"),
    ("sem_timedwait", .semaphore, "waiting for a semaphore"),
    ("sem_clockwait", .semaphore, "waiting for a semaphore"),
    ("uv_sem_", .semaphore, "waiting for a semaphore"),
    ("dispatch_semaphore_wait", .semaphore, "waiting for a semaphore"),
    ("rwlock", .readWriteLock, "waiting for a read-write lock"),
    ("dispatch_sync", .condition, "waiting for its turn on a dispatch queue"),
    ("dispatch_group_wait", .condition, "waiting for a dispatch group"),
    ("pthread_barrier_wait", .condition, "waiting for other threads at a barrier"),
    ("pthread_once", .condition, "waiting for another thread to finish an initialisation"),
    ("call_once", .condition, "waiting for another thread to finish an initialisation"),
    ("swift_once", .condition, "waiting for another thread to finish an initialisation"),
    ("pthread_cond_", .condition, "waiting for a condition that another thread is to signal"),
    ("condition_variable", .condition, "waiting for a condition that another thread is to signal"),
    ("mutex_lock", .mutex, "waiting for a mutex"),
    ("lll_lock_wait", .mutex, "waiting for a mutex"),
  ]

  private var byFunctions: Cause {
    let found = Self.meanings.lazy.compactMap { meaning in
      evidence.functions.first { $0.bytes.containsText(meaning.part) }.map { (meaning, $0) }
    }
    guard let (meaning, function) = found.first else {
      return Cause(
        .condition, "waiting for another thread: a condition, a semaphore or the like", confidence: .low,
        evidence: facts)
    }
    return Cause(
      meaning.kind, meaning.summary, confidence: .high,
      evidence: facts + ["\(function.escaped) is on its stack"])
  }
}
