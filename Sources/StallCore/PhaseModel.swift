// Tells from facts which phase a program is in, how long its loop may be away now, and what took too long as a whole.

/// Something that happened to the program, as far as somebody saw it happen.
package enum PhaseFact: Sendable, Equatable {
  /// A program began between the two moments: it was started, or the process executed another one.
  case began(after: Instant, by: Instant)
  /// It was asked to end. Some take an interrupt for something else and go on.
  case askedToQuit(at: Instant, mayGoOn: Bool)
  /// It was asked to stop.
  case askedToStop(at: Instant)
  /// It stopped, and its parent was told.
  case stopped(at: Instant)
  /// The machine slept until now.
  case machineResumed(at: Instant)
}

package struct PhaseModel {
  private let thresholds: PhaseThresholds
  private var launch: PhaseSpan?
  /// The first wait in what looks like the home, and the last moment at which the thread was not there.
  private var arrival: (home: Instant, after: Instant, likely: Instant)?
  /// A suspension or an end.
  private var request: PhaseSpan?
  private var askedAt = Instant(nanoseconds: 0)
  private var mayGoOn = false
  private var isResuming = false
  private var isInBackground = false
  private var last: ThreadObservation?
  /// False where stalls are no subject, or the program has no loop.
  package var isJudged: Bool {
    didSet { if !isJudged { (launch, request, isResuming, isInBackground) = (nil, nil, false, false) } }
  }

  /// A program that parks again so long after the request has taken it for something else.
  private static let timeToReact: Duration = .milliseconds(500)
  /// For spells of work while the phase is judged as a whole: longer than anybody watches.
  private static let never: Duration = .seconds(10 * 365 * 86_400)

  package init(_ thresholds: PhaseThresholds, isJudged: Bool = true) {
    self.thresholds = thresholds
    self.isJudged = isJudged
  }

  package var phase: Phase {
    if let request { return request.phase }
    if launch != nil { return .launch }
    if isResuming { return .resume }
    return isInBackground ? .background : .normal
  }

  /// By which a spell of work is judged.
  package var terms: JudgementTerms { JudgementTerms(phase: phase, threshold: spellThreshold) }

  private var spellThreshold: Duration {
    switch phase {
    case .launch, .suspend, .quit: Self.never
    case .normal, .resume, .background: thresholds[phase] ?? thresholds.normal
    }
  }

  /// When a phase as a whole will have taken too long.
  package var deadline: Instant? { (request ?? launch)?.deadline }

  /// Something happened between two looks. `newEpisode` gives the next id of an episode.
  package mutating func note(_ fact: PhaseFact, _ newEpisode: () -> Int) -> StallAction {
    guard isJudged else { return .none }
    switch fact {
    case .began(let after, let by):
      let action = interrupt(.targetReplaced, at: by, newEpisode)
      launch = span(.launch, from: after, to: by)
      return action
    case .askedToQuit(let moment, let mayGoOn):
      if request?.phase == .quit { return .none }
      return begin(.quit, at: moment, mayGoOn: mayGoOn, newEpisode)
    case .askedToStop(let moment):
      if request != nil { return .none }
      return begin(.suspend, at: moment, mayGoOn: true, newEpisode)
    case .stopped(let moment):
      return request?.phase == .suspend ? endRequest(by: moment, newEpisode) : .none
    case .machineResumed:
      resume()
      return .none
    }
  }

  /// What a look shows of the phase, before the loop is judged by its threshold.
  package mutating func prepare(for look: ThreadObservation, isInBackground: Bool) {
    guard isJudged else { return }
    self.isInBackground = isInBackground && thresholds[.background] != nil
    if let last, last.state.isPaused, !look.state.isPaused { resume() }
  }

  /// No phase is judged as a whole.
  package var isSteady: Bool { request == nil && launch == nil && !isResuming }

  /// Nothing has changed since the last look.
  package mutating func rest(at moment: Instant) { last?.at = moment }

  /// What the model of the loop made of that look.
  package mutating func observe(
    _ look: ThreadObservation, _ position: LoopPosition, home: HomeCandidate?, _ newEpisode: () -> Int
  ) -> StallAction {
    guard isJudged else { return .none }
    defer { last = look }
    if position == .parked { isResuming = false }
    request?.observe(look)
    if request != nil { return observeRequest(look, position, newEpisode) }
    launch?.observe(look)
    return observeLaunch(look, position, home, newEpisode)
  }

  /// The program ended, or the watch does.
  package mutating func interrupt(
    _ reason: Interruption, at moment: Instant, _ newEpisode: () -> Int
  ) -> StallAction {
    defer { (launch, request, arrival, isResuming) = (nil, nil, nil, false) }
    if let request {
      let isOver = reason == .targetExited && request.phase == .quit
      return request.ended(
        after: isOver ? moment : last?.at ?? moment, by: moment, likely: moment,
        as: isOver ? .ended : .interrupted(reason), newEpisode)
    }
    guard let launch, launch.isTold else { return .none }
    return launch.ended(
      after: last?.at ?? moment, by: moment, likely: moment, as: .interrupted(reason),
      newEpisode)
  }

  private func span(_ phase: Phase, from earliest: Instant, to latest: Instant) -> PhaseSpan? {
    thresholds[phase].map { PhaseSpan(phase, threshold: $0, from: earliest, to: latest) }
  }

  private mutating func resume() { isResuming = thresholds[.resume] != nil }

  /// What came before is over: a program that is asked to end launches no more.
  private mutating func begin(
    _ phase: Phase, at moment: Instant, mayGoOn: Bool, _ newEpisode: () -> Int
  ) -> StallAction {
    guard let next = span(phase, from: moment, to: moment) else { return .none }
    let action = phase == .quit ? interrupt(.askedToQuit, at: moment, newEpisode) : .none
    (request, askedAt, self.mayGoOn) = (next, moment, mayGoOn)
    if let last { request?.observe(last) }
    return action
  }

  private mutating func endRequest(by moment: Instant, _ newEpisode: () -> Int) -> StallAction {
    defer { request = nil }
    return request?.ended(after: last?.at ?? moment, by: moment, likely: moment, newEpisode) ?? .none
  }

  private mutating func observeRequest(
    _ look: ThreadObservation, _ position: LoopPosition, _ newEpisode: () -> Int
  ) -> StallAction {
    if request?.phase == .suspend, look.state == .stopped { return endRequest(by: look.at, newEpisode) }
    if mayGoOn, position == .parked, look.at - askedAt >= Self.timeToReact {
      return endRequest(by: look.at, newEpisode)
    }
    return request?.goOn(newEpisode) ?? .none
  }

  /// Where a wait may turn out to be the loop's own, nothing is said of it.
  private mutating func observeLaunch(
    _ look: ThreadObservation, _ position: LoopPosition, _ home: HomeCandidate?, _ newEpisode: () -> Int
  ) -> StallAction {
    guard launch != nil else { return .none }
    if let home, home.firstSeen == look.at {
      arrival = (look.at, last?.at ?? look.at, look.blockedSince ?? look.at)
    }
    if position == .parked { return endLaunch(home, look, newEpisode) }
    if look.mayBeParked || home?.wasReturnedTo ?? false { return .none }
    return launch?.goOn(newEpisode) ?? .none
  }

  /// The loop was there when the thread was first seen in the wait that has now turned out to be its home.
  private mutating func endLaunch(
    _ home: HomeCandidate?, _ look: ThreadObservation, _ newEpisode: () -> Int
  ) -> StallAction {
    defer { (launch, arrival) = (nil, nil) }
    let firstSeen = home?.firstSeen ?? look.at
    guard let arrival, arrival.home == firstSeen else {
      return launch?.ended(after: firstSeen, by: firstSeen, likely: firstSeen, newEpisode) ?? .none
    }
    return launch?.ended(
      after: arrival.after, by: firstSeen, likely: max(arrival.after, arrival.likely), newEpisode) ?? .none
  }
}

extension ThreadObservation {
  /// Blocked in a wait for something to happen, or in what cannot be seen.
  fileprivate var mayBeParked: Bool {
    switch activity {
    case .running, .blockedOutsideCall: false
    case .blocked(let call): isRestarted || Site(call, descriptors: descriptors) != nil
    case .blockedByKind(let kind): kind != nil
    case .unknown: true
    }
  }
}
