// What can be said of a thread where no loop is judged: long times in states that it did not choose.

package enum StateFact: Sendable, Equatable {
  /// In state D without a break, at least so long so far.
  case uninterruptible(Duration)
  /// Ready to run, so long in all since it last slept, while others had the CPU.
  case starved(Duration)
}

/// Tells each block and each run once, when it reaches the threshold.
package struct StateFacts: Sendable {
  private let threshold: Duration
  /// The first look that saw the present block in state D.
  private var block: ThreadObservation?
  /// The first look after the last sleep.
  private var run: ThreadObservation?
  private var hasToldBlock = false
  private var hasToldRun = false

  package init(threshold: Duration) { self.threshold = threshold }

  package mutating func observe(_ look: ThreadObservation) -> StateFact? {
    if let fact = observeBlock(look) { return fact }
    return observeRun(look)
  }

  private mutating func observeBlock(_ look: ThreadObservation) -> StateFact? {
    guard look.state == .uninterruptible else {
      block = nil
      return nil
    }
    guard let block, look.hasNotMoved(since: block) else {
      (block, hasToldBlock) = (look, false)
      return nil
    }
    guard !hasToldBlock, look.at - block.at >= threshold else { return nil }
    hasToldBlock = true
    return .uninterruptible(look.at - block.at)
  }

  private mutating func observeRun(_ look: ThreadObservation) -> StateFact? {
    guard let run, run.voluntarySwitches == look.voluntarySwitches else {
      (run, hasToldRun) = (look, false)
      return nil
    }
    let waited = look.runQueueDelay - run.runQueueDelay
    guard !hasToldRun, waited >= threshold else { return nil }
    hasToldRun = true
    return .starved(waited)
  }
}
