// Why a thread stalled: a kind, a sentence, a confidence, and the evidence it rests on.

/// The kinds of cause. The raw value is the word used in records.
package enum CauseKind: String, Sendable, Codable, CaseIterable {
  case userCPU = "cpu.user"
  case kernelCPU = "cpu.kernel"
  /// A loop that asks again and again instead of waiting.
  case polling = "cpu.polling"
  case starved = "cpu.starved"
  case throttled = "cpu.throttled"
  case mutex = "lock.mutex"
  case readWriteLock = "lock.rwlock"
  case condition = "lock.condition"
  case semaphore = "lock.semaphore"
  /// A ring of threads of which each waits for a lock of the next.
  case deadlock = "lock.deadlock"
  case disk = "io.disk"
  case pageFault = "io.page-fault"
  case networkConnect = "io.network.connect"
  case networkReceive = "io.network.receive"
  case networkSend = "io.network.send"
  case pipe = "io.pipe"
  case terminal = "io.terminal"
  case device = "io.device"
  case child = "wait.child"
  case thread = "wait.thread"
  case sleep = "wait.sleep"
  case otherLoop = "wait.other-loop"
  case unknown
}

package enum Confidence: String, Sendable, Codable {
  case low, medium, high
}

package struct Cause: Sendable, Equatable {
  package var kind: CauseKind
  /// One sentence without a full stop: "sleeping in a callback".
  package var summary: String
  package var confidence: Confidence
  /// What the claim rests on, one fact each.
  package var evidence: [String]

  package init(_ kind: CauseKind, _ summary: String, confidence: Confidence, evidence: [String]) {
    self.kind = kind
    self.summary = summary
    self.confidence = confidence
    self.evidence = evidence
  }
}
