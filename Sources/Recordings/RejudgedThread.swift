// One thread of a recording that is judged again: what `FollowedThread` does with looks, without a process.

internal import StallCore

struct RejudgedThread {
  private(set) var detector: StallDetector
  private var phases: PhaseModel
  /// Came since the last look.
  private var gap: WatchGap?
  private var isInBackground = false
  private var last: ThreadObservation?
  private var phaseEpisodes = 0

  init(_ thresholds: PhaseThresholds, interval: Duration?, home: HomeSelector?) {
    detector = StallDetector(threshold: thresholds.normal, interval: interval, home: home)
    phases = PhaseModel(thresholds)
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

  mutating func judge(_ recorded: ThreadObservation, say: (StallAction, SaturationAction) -> Void) {
    var look = recorded
    // The detector asks for it again where it matters.
    let blockStart = look.blockStart
    look.blockStart = nil
    if let gap { take(gap, look, say) }
    phases.prepare(for: look, isInBackground: isInBackground)
    detector.terms = phases.terms
    if phases.phase == .launch { look.blockStart = blockStart }
    let (action, _) = detector.observe(look) { blockStart }
    last = look
    say(action, detector.saturation)
    let (position, home) = (detector.position, detector.loop.home)
    say(note { $0.observe(look, position, home: home, $1) }, .none)
  }

  mutating func note(_ gap: WatchGap) { self.gap = gap }

  mutating func note(isInBackground: Bool) { self.isInBackground = isInBackground }

  private mutating func take(
    _ gap: WatchGap, _ look: ThreadObservation, _ say: (StallAction, SaturationAction) -> Void
  ) {
    self.gap = nil
    say(detector.startAnew(after: gap, at: look), .none)
    if gap.isShared { say(note { $0.note(.machineResumed(at: look.at), $1) }, .none) }
  }

  mutating func note(_ fact: PhaseFact) -> StallAction { note { $0.note(fact, $1) } }

  /// Episodes of phases have numbers of their own, which the detector does not give.
  private mutating func note(_ judge: (inout PhaseModel, () -> Int) -> StallAction) -> StallAction {
    var episodes = phaseEpisodes
    defer { phaseEpisodes = episodes }
    return judge(&phases) {
      episodes -= 1
      return episodes
    }
  }

  mutating func absorbCapture(_ look: ThreadObservation) { detector.absorbCapture(look) }

  mutating func learn(_ meaning: WaitMeaning, of site: Site) { detector.learn(meaning, of: site) }

  mutating func cutOff(_ reason: Interruption, say: (StallAction, SaturationAction) -> Void) {
    let action = detector.interrupt(reason)
    say(action, detector.saturation)
  }

  mutating func forget() { detector.forget() }

  /// No more looks will come.
  mutating func end(
    _ reason: Interruption, at moment: Instant, say: (StallAction, SaturationAction) -> Void
  ) {
    say(note { $0.interrupt(reason, at: moment, $1) }, .none)
    cutOff(reason, say: say)
  }
}
