// Infers from outside which wait a thread's event loop parks in, and says of each look whether the loop is parked.

/// What a look says about the loop.
package enum LoopPosition: Sendable, Equatable {
  /// Blocked in a wait on the loop's own multiplexer.
  case parked
  /// Anything else: running, runnable, or blocked elsewhere.
  case working
  /// In a sleep or lock wait that looks like the home seen from a changed stack, or after one: a park or work, as the
  /// next waits will tell.
  case perhapsParked
  /// Stopped, traced: the time does not count.
  case paused
  /// It is not known (yet) what the loop parks in.
  case undecided
}

/// Learns the home of one thread: the multiplexer to which it comes back, preferring real multiplexers to sleeps and
/// locks, and shallower stacks to deeper ones.
package final class EventLoopModel {
  private var candidates: [HomeCandidate] = []
  private var homeIndex: Int?
  private var lastTimesScheduled: UInt64?
  /// The wait of the last look, if that look found one.
  private var lastSite: Site?
  /// The last call that was seen under its own number, and its site.
  private var lastCall: BlockedCall?
  private var siteOfLastCall: Site?
  /// Since when it is not known whether the home is still the home.
  private var doubtedSince: Instant?
  /// Waits on the home from there are work.
  private var workPlaces = WorkPlaces()
  /// The home that a person has named: it is not inferred then.
  package let given: HomeSelector?

  /// Enough for every loop and nested loop of one thread; the least used one makes place.
  private static let capacity = 16
  /// A deeper or lesser wait replaces a home that the thread does not come back to only after this long.
  static let abandonedAfter: Duration = .seconds(30)
  /// … and so many waits.
  static let visitsThatRefute = 5

  package init(given: HomeSelector? = nil) {
    self.given = given
    candidates.reserveCapacity(Self.capacity)
    guard given == .mainQueue else { return }
    // It is there, whether or not it was ever seen at rest.
    candidates.append(HomeCandidate(Site(.mainQueue), at: Instant(nanoseconds: 0), wasFoundHere: true))
    homeIndex = 0
  }

  package var home: HomeCandidate? { homeIndex.map { candidates[$0] } }

  /// The wait in which the last look found the thread.
  package var presentWait: (site: Site, candidate: HomeCandidate, isHome: Bool)? {
    guard let lastSite, let index = candidates.firstIndex(where: { $0.matches(lastSite) }) else { return nil }
    return (lastSite, candidates[index], index == homeIndex)
  }

  /// Takes in one look. Does not allocate.
  package func observe(_ observation: ThreadObservation) -> LoopPosition {
    let position = position(in: observation)
    switch position {
    case .parked: doubtedSince = nil
    case .perhapsParked: doubtedSince = doubtedSince ?? observation.at
    case .working:
      if let doubtedSince, observation.at - doubtedSince < Self.abandonedAfter { return .perhapsParked }
    case .paused, .undecided: break
    }
    return position
  }

  private func position(in observation: ThreadObservation) -> LoopPosition {
    if observation.state.isPaused { return .paused }
    if let homeIndex, let passes = observation.passes { candidates[homeIndex].pass(passes) }
    let isFirstLook = lastTimesScheduled == nil
    let hasMoved = lastTimesScheduled != observation.timesScheduled
    lastTimesScheduled = observation.timesScheduled
    guard let site = site(of: observation, hasMoved: hasMoved) else {
      lastSite = nil
      if observation.activity == .unknown, observation.isBlocked { return .undecided }
      return !isJudgeable || mayBeRestarted(home, at: observation) ? .undecided : .working
    }
    if site.isUnread, isIndistinct(site) {
      lastSite = site
      return .undecided
    }
    let isNewVisit = !observation.isRestarted && (hasMoved || lastSite == nil)
    let index = record(site, at: observation.at, isNewVisit: isNewVisit, isFirst: isFirstLook)
    lastSite = site
    if let given {
      if given.matches(site) { homeIndex = index }
      return homeIndex == nil ? .undecided : given.matches(site) ? .parked : .working
    }
    reconsiderHome(seen: index, at: observation.at)
    guard isJudgeable else { return .undecided }
    if homeIndex == index {
      return workPlaces.isWork(site, isNewVisit: isNewVisit, at: observation.at) ? .working : .parked
    }
    if isIndistinct(site) { return .undecided }
    return mayBeHome(candidates[index], at: observation.at) ? .perhapsParked : .working
  }

  /// An interpreter that optimizes its code comes to the same sleep through other frames: `other` is where the loop will
  /// park from now on, or a first wait of the same kind in a function of the loop's.
  ///
  /// And a loop that never rests, so that only what its callbacks wait for was seen for long, may have come to rest.
  private func mayBeHome(_ other: HomeCandidate, at moment: Instant) -> Bool {
    if other.wasHome, other.isMultiplexer { return true }
    guard let home,
      home.isTwin(of: other) || home.isDeeperTwin(of: other) || home.isFutexTwin(of: other),
      home.lastSeen < other.firstSeen
    else { return false }
    return !other.isBelievable && moment - other.firstSeen < Self.abandonedAfter
  }

  /// Whether enough is known of the home to tell work from waiting.
  package var isJudgeable: Bool { home.map { given != nil || $0.isBelievable } ?? false }

  /// It cannot be told whether this is the home: two sets made at different places, one of which could not be read.
  private func isIndistinct(_ site: Site) -> Bool {
    guard let home, home.site.kind == .poll, site.kind == .poll else { return false }
    return home.site.isUnread != site.isUnread && !home.matches(site)
  }

  private func mayBeRestarted(_ home: HomeCandidate?, at look: ThreadObservation) -> Bool {
    guard look.isRestarted, let home, case .blocked(let call) = look.activity else { return false }
    return call.mayContinue(home.site.kind)
      && (home.site.programCounter == call.programCounter || !home.isFar(from: call.stackPointer))
  }

  /// Nil if the thread is not blocked in a wait for something to happen.
  private func site(of observation: ThreadObservation, hasMoved: Bool) -> Site? {
    switch observation.activity {
    case .blocked(let call): resolve(call, observation.descriptors, hasMoved: hasMoved)
    case .blockedByKind(let kind): kind.map { Site($0) }
    case .running, .blockedOutsideCall, .unknown: nil
    }
  }

  /// The site of a call. After a stop and continue the kernel shows `restart_syscall` with the arguments, stack pointer
  /// and program counter of the call that it continues.
  private func resolve(_ call: BlockedCall, _ descriptors: DescriptorSet?, hasMoved: Bool) -> Site? {
    if call.number == SystemCallNumber.restartSyscall {
      return lastCall.map { call.continues($0) } ?? false ? siteOfLastCall : nil
    }
    // A set may be read (anew) while the thread stays where it is.
    if !hasMoved, let lastSite, descriptors == nil || descriptors == lastSite.descriptors { return lastSite }
    lastCall = call
    siteOfLastCall = Site(call, descriptors: descriptors)
    return siteOfLastCall
  }

  /// The same look, with the call that the kernel continues in place of `restart_syscall`, where that call is known.
  package func naming(_ look: ThreadObservation) -> ThreadObservation {
    guard case .blocked(let call) = look.activity, let lastCall, call.continues(lastCall) else { return look }
    var named = look
    named.activity = .blocked(lastCall)
    return named
  }

  private func record(_ site: Site, at moment: Instant, isNewVisit: Bool, isFirst: Bool) -> Int {
    if let index = candidates.firstIndex(where: { $0.matches(site) }) {
      candidates[index].see(site, at: moment, isNewVisit: isNewVisit)
      return index
    }
    let candidate = HomeCandidate(site, at: moment, wasFoundHere: isFirst)
    guard candidates.count == Self.capacity else {
      candidates.append(candidate)
      return candidates.count - 1
    }
    let replaced = leastUsedIndex
    candidates[replaced] = candidate
    return replaced
  }

  private var leastUsedIndex: Int {
    var least: Int?
    for index in candidates.indices where index != homeIndex {
      guard let other = least else { least = index; continue }
      let (left, right) = (candidates[index], candidates[other])
      if (left.visits, left.lastSeen.nanoseconds) < (right.visits, right.lastSeen.nanoseconds) {
        least = index
      }
    }
    return least ?? 0
  }

  private func reconsiderHome(seen index: Int, at moment: Instant) {
    guard let homeIndex else {
      self.homeIndex = index
      return
    }
    guard index != homeIndex, shouldReplace(candidates[homeIndex], by: candidates[index], at: moment) else {
      return
    }
    if let (home, other) = candidates[homeIndex].hintsRefuted(by: candidates[index]) {
      candidates[homeIndex].hint = home
      candidates[index].hint = other
    }
    if candidates[homeIndex].hasProvedItself { candidates[homeIndex].wasHome = true }
    self.homeIndex = index
  }

  /// What the first stack says of a wait. It counts from the next look on.
  package func learn(_ meaning: WaitMeaning, of site: Site) {
    guard given == nil, let index = candidates.firstIndex(where: { $0.matches(site) }) else { return }
    switch meaning {
    case .unknown: break
    case .loop:
      workPlaces.remove(WaitPlace(site))
      if candidates[index].hint != .refuted { candidates[index].hint = .loop }
    case .work where candidates[index].hint == .none && candidates[index].firstPlace == WaitPlace(site):
      candidates[index].hint = .work
    case .work: workPlaces.add(WaitPlace(site))
    }
    preferHinted()
  }

  /// A candidate that is not work takes the place of a home that is, and one known as a loop that of one not known.
  private func preferHinted() {
    guard let homeIndex, let home else { return }
    for index in candidates.indices where index != homeIndex {
      if candidates[index].isToldToReplace(home) == true { self.homeIndex = index }
    }
  }

  /// Whether the thread's loop is `other` rather than `home`, now that it waits on `other`.
  private func shouldReplace(_ home: HomeCandidate, by other: HomeCandidate, at moment: Instant) -> Bool {
    let isAbandoned =
      moment - home.lastSeen > Self.abandonedAfter && other.visits >= Self.visitsThatRefute
    if let isTold = other.isToldToReplace(home) { return isTold || isAbandoned }
    if !home.isBelievable, other.rank >= home.rank || other.wasReturnedTo { return true }
    if other.isPart(of: home) { return isAbandoned }
    if home.isMultiplexer, other.isMultiplexer { return isAbandoned || isLikelier(other, than: home) }
    if other.rank > home.rank {
      // A loop of `work(); sleep(1)` whose work polls: the sleep is further out and is what it comes back to.
      let isInsideHome = home.wasReturnedTo && other.isDeeper(than: home)
      // One whose work reads from a child: the sleep is where it spends its time.
      let isAside = other.isProvenByTime && home.wasReturnedTo && other.waited < home.waited
      return isAbandoned || other.isBelievable && !isInsideHome && !isAside
    }
    if other.rank < home.rank {
      let isAside = home.isProvenByTime && other.isBelievable && home.waited * 4 < other.waited
      return isAbandoned || isAside
    }
    if home.isDeeper(than: other) { return other.isBelievable }
    if home.isFutexTwin(of: other), other.isBelievable, home.lastSeen < other.firstSeen { return true }
    if other.isDeeper(than: home) { return isAbandoned }
    if home.isTwin(of: other), other.isBelievable {
      if home.lastSeen < other.firstSeen || home.visits < other.visits { return true }
    }
    return other.wasReturnedTo && other.lastSeen - home.lastSeen > .seconds(5) || !home.wasReturnedTo
  }

  /// Of two multiplexers. What a callback waits for, in a loop of its own, can look like the loop for as long as the
  /// callback takes; so a home that has proved itself is given up only when it is abandoned, or when another one that had
  /// proved itself before is waited on again.
  private func isLikelier(_ other: HomeCandidate, than home: HomeCandidate) -> Bool {
    if home.site.isUnread, !other.site.isUnread { return other.isBelievable }
    if other.wasHome { return other.visits > home.visits || other.lastSeen - home.lastSeen > .seconds(1) }
    if home.hasProvedItself { return false }
    if home.isDeeper(than: other) { return other.isBelievable }
    if other.isDeeper(than: home) { return false }
    return other.wasReturnedTo && other.lastSeen - home.lastSeen > .seconds(5) || !home.wasReturnedTo
  }
}
