// What the judgement says of one stall at one moment: the value that reports are made of.

/// How long something took: the best estimate and the bounds between which the truth lies.
package struct DurationEstimate: Sendable, Equatable {
  package var likely: Duration
  package var atLeast: Duration
  /// Nil when the start was never seen (it began before the watch did).
  package var atMost: Duration?

  package init(likely: Duration, atLeast: Duration, atMost: Duration?) {
    self.likely = likely
    self.atLeast = atLeast
    self.atMost = atMost
  }
}

/// Where the time of a spell went. The parts but `stopped` add up to the spell's likely duration.
package struct TimeBreakdown: Sendable, Equatable {
  package var onCPU: Duration = .zero
  /// The part of `onCPU` that the kernel worked for it, by ticks; nil if there were too few of them to tell.
  package var onCPUInKernel: Duration?
  package var runnable: Duration = .zero
  package var blocked: Duration = .zero
  /// Stopped by a signal, traced or frozen: the clock of the stall stands still meanwhile.
  package var stopped: Duration = .zero
  /// Taken by the hypervisor, as far as that can be told.
  package var stolen: Duration = .zero
  /// Between two looks so far apart that nothing is known.
  package var blind: Duration = .zero

  package init() {}

  /// How much of the CPU time was spent in user mode, by ticks.
  package var userShare: Double? {
    guard let onCPUInKernel, onCPU > .zero else { return nil }
    return 1 - onCPUInKernel / onCPU
  }
}

/// In one word, what the thread mostly did. The raw value is the word used in records.
package enum StallClass: String, Sendable, Codable {
  case blocked, cpu, starved, mixed
}

/// How it is known that the loop did not come round during the spell. The raw value is the word used in records.
package enum PassProof: String, Sendable, Codable {
  /// One single block outside the loop's own wait lasted the threshold: the thread was not scheduled in once.
  case didNotMove = "did-not-move"
  /// The same, but only the kinds of waits could be seen: it was none of the kind that the loop idles in.
  case otherKind = "other-kind"
  /// Something that sees every pass of the loop saw none for the threshold; see `PassSource`.
  case breakpoint, heartbeat, ping
  /// The thread never gave up the CPU of its own accord, so it cannot have parked; it may have passed.
  case neverSlept = "never-slept"
  /// Every time the thread slept it was seen outside the loop's wait, so it cannot have parked; it may have passed.
  case neverParked = "never-parked"
  /// The thread slept between looks that did not see where.
  case none
  /// It was asked to stop or to end, and has not done so; whether its loop came round is not the point.
  case notOver = "not-over"
  /// Since the program began, no look has found its loop parked.
  case notSeenParked = "not-seen-parked"

  /// Said of a phase as a whole.
  package var isOfPhase: Bool { self == .notOver || self == .notSeenParked }

  init(_ source: PassSource) {
    switch source {
    case .breakpoint: self = .breakpoint
    case .heartbeat: self = .heartbeat
    case .ping: self = .ping
    case .probe: self = .none
    }
  }

  /// The loop certainly did not come round, or the phase certainly took so long.
  package var isCertain: Bool { self == .didNotMove || self == .notOver || isQuiet }

  /// All that is certain is one block.
  var isOneBlock: Bool { self == .didNotMove || self == .otherKind }

  /// All that is certain is one stretch of the spell.
  var isOneStretch: Bool { isOneBlock || isQuiet }

  private var isQuiet: Bool { self == .breakpoint || self == .heartbeat || self == .ping }
}

package enum StallState: Sendable, Equatable {
  case ongoing
  case ended
  case interrupted(Interruption)
}

/// Why an episode was cut off.
package enum Interruption: String, Sendable, Codable {
  case targetExited = "target-exited"
  case targetReplaced = "target-replaced"
  case targetStopped = "target-stopped"
  case threadEnded = "thread-ended"
  /// Another thread turned out to run the loop.
  case threadChanged = "thread-changed"
  case watchEnded = "watch-ended"
  /// From here on more or less of the thread's waits can be seen.
  case rightsChanged = "rights-changed"
  /// The machine slept, or stood still with all that ran on it.
  case machineSuspended = "machine-suspended"
  /// A program that was still launching was asked to end.
  case askedToQuit = "asked-to-quit"
}

/// One statement about one episode.
package struct Stall: Sendable, Equatable {
  /// Counts from 1 within a watch; the same for every statement about an episode.
  package var id: Int
  package var state: StallState
  /// That of the threshold.
  package var phase = Phase.normal
  package var threshold: Duration
  /// Likely start.
  package var startedAt: Instant
  package var duration: DurationEstimate
  package var proof: PassProof
  package var breakdown: TimeBreakdown
  /// Nil where nothing was read.
  package var surroundings: Surroundings?
  /// Of a question that was asked meanwhile.
  package var probe: ProbeWait?

  package init(
    id: Int, state: StallState, threshold: Duration, startedAt: Instant, duration: DurationEstimate,
    proof: PassProof, breakdown: TimeBreakdown
  ) {
    self.id = id
    self.state = state
    self.threshold = threshold
    self.startedAt = startedAt
    self.duration = duration
    self.proof = proof
    self.breakdown = breakdown
  }

  package var isVerified: Bool { proof.isCertain }

  /// What took at least two thirds of the time that was seen.
  package var stallClass: StallClass {
    let seen = breakdown.onCPU + breakdown.runnable + breakdown.blocked
    func dominates(_ part: Duration) -> Bool { part * 3 >= seen * 2 }
    if dominates(breakdown.blocked) { return .blocked }
    if dominates(breakdown.onCPU) { return .cpu }
    if dominates(breakdown.runnable) { return .starved }
    return .mixed
  }
}
