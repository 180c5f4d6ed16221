// What is known of the place and the cause of the stall that is being told: its stack, which may come late.

internal import Diagnosis
internal import StallCore

struct Episode {
  let id: Int
  private(set) var stack: Stack?
  private(set) var cause: Cause?
  private var pending: PendingStack?
  private var evidence: Evidence?

  init(id: Int) { self.id = id }

  /// Takes a newer capture. While the stack of an older one is still in the making, that one is waited for: the first
  /// stack of large programs takes longer than it takes to the next capture.
  mutating func take(_ thread: CapturedThread, _ analyst: StackAnalyst) {
    evidence = thread.evidence ?? evidence
    if pending == nil { pending = analyst.ask(thread) }
  }

  /// Waits for the stack no longer than told. An empty one does not take the place of one that has frames.
  mutating func proceed(_ analyst: StackAnalyst, within time: Duration) {
    guard let pending else { return }
    let (newest, isFinal) = analyst.stack(of: pending, within: time)
    if !newest.frames.isEmpty || stack?.frames.isEmpty ?? true { stack = newest }
    if isFinal { self.pending = nil }
    guard var evidence else { return }
    evidence.functions = stack?.frames.compactMap(\.symbol) ?? []
    cause = CauseRules.cause(of: evidence)
  }

  /// Whatever is still in the making is not wanted any more.
  func end(_ analyst: StackAnalyst) { if let pending { analyst.forget(pending) } }
}
