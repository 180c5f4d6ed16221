// The rules for a thread that waits on a futex: which kind of lock, and who holds it.

internal import StallCore

struct LockRules {
  let evidence: Evidence
  let facts: [String]

  var cause: Cause { evidence.chain.flatMap(deadlock) ?? causeByWord }

  private var causeByWord: Cause {
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
    let name = holder.id == evidence.threadID ? "itself" : holder.text
    return Cause(
      kind, "waiting for \(thing) held by \(name)\(behindHolder)", confidence: certain,
      evidence: facts + [fact] + chainFacts)
  }

  /// What keeps the holder, and who keeps that one.
  private var behindHolder: String {
    guard let chain = evidence.chain, let last = chain.waits.last?.holder else { return "" }
    let doing = evidence.lastHolder.map { " (\($0.summary))" } ?? ""
    switch chain.end {
    case .free where chain.waits.count == 1: return doing
    case .free: return ", behind \(chain.waits.count) locks \(last.text)\(doing)"
    case .tooLong: return ", the first of a chain of more than \(chain.waits.count) locks"
    case .ring: return ", in a ring of waits that end by themselves"
    }
  }

  private var chainFacts: [String] {
    guard let chain = evidence.chain else { return [] }
    let links = chain.waits.dropFirst().map(\.fact)
    let last = evidence.lastHolder?.evidence.first.flatMap { fact in
      chain.lastHolder.map { "\($0.text): \(fact)" }
    }
    return links + (last.map { [$0] } ?? [])
  }

  private func deadlock(_ chain: LockChain) -> Cause? {
    let ring = chain.deadlocked
    guard let first = ring.first else { return nil }
    let isCertain = ring.allSatisfy { if case .threadEnd = $0.lock { false } else { true } }
    return Cause(
      .deadlock, "deadlock: \(sentence(ring, first))", confidence: isCertain ? .high : .medium,
      evidence: facts + chain.waits.map(\.fact) + [
        "all of it was read twice, and none of them ran in between"
      ])
  }

  private func sentence(_ ring: ArraySlice<LockWait>, _ first: LockWait) -> String {
    let isInside = first.waiter.id == evidence.threadID
    switch (ring.count, isInside) {
    case (1, true): return "waiting for \(first.thing) that it holds itself"
    case (1, false):
      return "waiting for \(first.waiter.text), which waits for \(first.thing) that it holds itself"
    case (2, true): return "it and \(first.holder.text) wait for each other"
    case (2, false):
      return "waiting for \(first.waiter.text), which waits for \(first.holder.text) as that does for it"
    case (let count, true):
      return "a ring of \(count) threads that wait for each other, it and next \(first.holder.text)"
    case (let count, false):
      return "waiting for a ring of \(count) threads that wait for each other, first \(first.waiter.text)"
    }
  }

  private var threadEnd: Cause {
    guard let holder = evidence.holder else { return byFunctions }
    let isJoin = evidence.functions.contains { $0.bytes.containsText("join") }
    return Cause(
      .thread, "waiting for the end of \(holder.text)\(behindHolder)", confidence: isJoin ? .high : .medium,
      evidence: facts + ["the word waited on holds the id of thread \(holder.id), as in pthread_join"]
        + chainFacts)
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

extension Evidence.Thread {
  fileprivate var text: String { name.map { "thread \(id) \"\($0.escaped)\"" } ?? "thread \(id)" }
}

extension LockWait {
  fileprivate var thing: String {
    switch lock {
    case .readWriteLock: "a read-write lock"
    case .threadEnd: "the end of a thread"
    case .mutex, .inheritingMutex, .other: "a mutex"
    }
  }

  fileprivate var fact: String {
    if case .threadEnd = lock { return "\(waiter.text) waits for the end of \(holder.text)" }
    let address = String(call.arguments.first, radix: 16)
    return "\(waiter.text) waits for \(thing) at 0x\(address), held by \(holder.text)"
  }
}
