// One thread of a recording that is judged again: what `FollowedThread` does with looks, without a process.

internal import StallCore

final class RejudgedThread {
  let detector: StallDetector
  private var phases: PhaseModel
  private var surroundings: SurroundingsWatch
  private var readings = RecordedReadings()
  /// What questions from outside had shown at the last look.
  private var probe = ProbeFacts()
  /// Came since the last look.
  private var gap: WatchGap?
  private var isInBackground = false
  private var last: ThreadObservation?
  private var phaseEpisodes = 0

  init(_ thresholds: PhaseThresholds, interval: Duration?, home: HomeSelector?) {
    detector = StallDetector(threshold: thresholds.normal, interval: interval, home: home)
    phases = PhaseModel(thresholds)
    surroundings = SurroundingsWatch(interval: detector.alertInterval)
    // A queue is not launched.
    if home == .mainQueue { phases.isJudged = false }
  }

  var isJudged: Bool {
    get { !detector.isBlindToLoop }
    set {
      detector.isBlindToLoop = !newValue
      phases.isJudged = newValue
    }
  }

  func judge(
    _ recorded: ThreadObservation, _ facts: ProbeFacts, say: (StallAction, SaturationAction) -> Void
  ) {
    var look = recorded
    // The detector asks for it again where it matters.
    let blockStart = look.blockStart
    look.blockStart = nil
    if let gap { take(gap, look, say) }
    probe = facts
    phases.prepare(for: look, isInBackground: isInBackground)
    detector.terms = phases.terms
    if phases.phase == .launch { look.blockStart = blockStart }
    let (action, _) = detector.observe(look) { blockStart }
    last = look
    say(told(surrounded(action, at: look.at)), detector.saturation)
    let (position, home) = (detector.position, detector.loop.home)
    say(told(note { $0.observe(look, position, home: home, $1) }), .none)
  }

  func note(_ gap: WatchGap) { self.gap = gap }

  func note(isInBackground: Bool) { self.isInBackground = isInBackground }

  /// For the look that follows.
  func note(_ reading: SurroundingsReading) { readings.add(reading) }

  private func take(
    _ gap: WatchGap, _ look: ThreadObservation, _ say: (StallAction, SaturationAction) -> Void
  ) {
    self.gap = nil
    say(told(detector.startAnew(after: gap, at: look)), .none)
    if gap.isShared { say(told(note { $0.note(.machineResumed(at: look.at), $1) }), .none) }
  }

  /// In the order in which the watch reads them.
  private func surrounded(_ action: StallAction, at moment: Instant) -> StallAction {
    var readings = readings
    let surrounded = surroundings.surrounded(action) { readings.next() }
    surroundings.observe(spellStart: detector.spellStart, at: moment) { readings.next() }
    readings.endLook()
    self.readings = readings
    return surrounded
  }

  private func told(_ action: StallAction) -> StallAction {
    guard let last else { return action }
    return action.with { $0.put(probe, at: last.at) }
  }

  func note(_ fact: PhaseFact) -> StallAction { told(note { $0.note(fact, $1) }) }

  /// Episodes of phases have numbers of their own, which the detector does not give.
  private func note(_ judge: (inout PhaseModel, () -> Int) -> StallAction) -> StallAction {
    var episodes = phaseEpisodes
    defer { phaseEpisodes = episodes }
    return judge(&phases) {
      episodes -= 1
      return episodes
    }
  }

  func absorbCapture(_ look: ThreadObservation) { detector.absorbCapture(look) }

  func learn(_ meaning: WaitMeaning, of site: Site) { detector.learn(meaning, of: site) }

  func cutOff(_ reason: Interruption, say: (StallAction, SaturationAction) -> Void) {
    let action = told(detector.interrupt(reason))
    say(action, detector.saturation)
  }

  func forget() { detector.forget() }

  /// No more looks will come.
  func end(
    _ reason: Interruption, at moment: Instant, say: (StallAction, SaturationAction) -> Void
  ) {
    say(told(note { $0.interrupt(reason, at: moment, $1) }), .none)
    cutOff(reason, say: say)
  }
}

/// What was read of the surroundings of a thread, for a judgement that may want it at other looks.
private struct RecordedReadings {
  /// Those that belong to the look that is judged, as they were read.
  private var fresh: [SurroundingsReading] = []
  private var newest: SurroundingsReading?

  /// A watch reads twice at most.
  private static let most = 2

  mutating func add(_ reading: SurroundingsReading) {
    if fresh.count == Self.most { fresh.removeFirst() }
    fresh.append(reading)
  }

  /// Where none was read at this look, the last one before it.
  mutating func next() -> SurroundingsReading? {
    if !fresh.isEmpty { newest = fresh.removeFirst() }
    return newest
  }

  mutating func endLook() {
    newest = fresh.last ?? newest
    fresh = []
  }
}
