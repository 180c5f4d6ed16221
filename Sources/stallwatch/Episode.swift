// What is known of the place and the cause of the stall that is being told: its stack, which may come late.

internal import Diagnosis
internal import Recordings
internal import StallCore

struct Episode {
  private(set) var stack: Stack?
  /// When that was copied.
  private(set) var stackAt: Instant?
  private(set) var cause: Cause?
  /// In the making: the oldest capture, and the newest one.
  private var pending: [PendingStack] = []
  private var evidence: Evidence?

  /// Takes a newer capture. The oldest one that is still in the making is kept, since the first stack of a large program
  /// can take longer than it takes to the next capture; what lies between is given up.
  mutating func take(_ thread: CapturedThread, _ analyst: StackAnalyst) {
    while pending.count > 1 { analyst.forget(pending.removeLast()) }
    pending.append(analyst.ask(thread))
    evidence = thread.evidence?.completed(by: evidence) ?? evidence
  }

  /// Waits for the newest stack no longer than told. An empty one does not take the place of one that has frames.
  mutating func proceed(_ analyst: StackAnalyst, within time: Duration) {
    let end = Instant.now + time
    while let oldest = pending.first {
      let (newest, isFinal) = analyst.stack(of: oldest, within: max(.zero, end - .now))
      if !newest.frames.isEmpty || stack?.frames.isEmpty ?? true {
        (stack, stackAt) = (newest, oldest.thread.at)
      }
      if let recorded = oldest.thread.recorded { cause = recorded.cause }
      if !isFinal { break }
      pending.removeFirst()
    }
    guard var evidence else { return }
    evidence.functions = stack?.frames.compactMap(\.symbol) ?? []
    cause = CauseRules.cause(of: evidence)
  }

  /// Whatever is still in the making is not wanted any more.
  func end(_ analyst: StackAnalyst) { pending.forEach(analyst.forget) }
}
