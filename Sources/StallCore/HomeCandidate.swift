// A multiplexer that a thread was seen to wait on, and the experience with it.

/// What the first stack said of a candidate, as far as experience bears it out.
package enum HomeHint: Sendable {
  case none
  /// The loop's own wait.
  case loop
  /// Work, from wherever it was waited for.
  case work
  /// Something was said, and the thread behaved otherwise.
  case refuted
}

package struct HomeCandidate: Sendable {
  package private(set) var site: Site
  /// For a poll set: the descriptors that were in every wait so far.
  package private(set) var core: DescriptorSet?
  /// Distinct waits: the thread moved in between.
  package private(set) var visits = 1
  /// For how long it was seen to wait here.
  package private(set) var waited: Duration = .zero
  package private(set) var firstSeen: Instant
  package private(set) var lastSeen: Instant
  /// The shallowest call seen; stacks grow downwards.
  package private(set) var shallowestStackPointer: UInt64
  /// The thread was found here by the very first look: where an idle program most likely is.
  package let wasFoundHere: Bool
  package var hint = HomeHint.none
  /// Seen while it was the home, by what sees them.
  private var passes = 0
  /// It was the home until another one was waited on instead.
  var wasHome = false
  /// Where it was waited for the first time.
  let firstPlace: WaitPlace

  /// Calls whose stack pointers are closer than this are made from about the same depth: two calls below one function
  /// differ by the frames of their wrappers.
  package static let depthMargin: UInt64 = 512

  package init(_ site: Site, at moment: Instant, wasFoundHere: Bool) {
    self.site = site
    core = site.descriptors
    firstSeen = moment
    lastSeen = moment
    shallowestStackPointer = site.stackPointer
    firstPlace = WaitPlace(site)
    self.wasFoundHere = wasFoundHere
  }

  /// The same multiplexer. A poll set is the same if it holds any of the core: sets grow, shrink and move. But who asks
  /// from elsewhere for one of them alone waits for an answer: Xlib for the server's, Ruby in a sleep for its timer.
  package func matches(_ other: Site) -> Bool {
    if isReadOnlyOnce(with: other) || isOfSameFutex(as: other) { return true }
    guard site.multiplexer == other.multiplexer else { return false }
    guard let core, let descriptors = other.descriptors else { return true }
    if descriptors.isOne(of: core), isFar(from: other) { return false }
    return !core.intersection(descriptors).isEmpty
  }

  /// A wait for one of the descriptors of `home` alone.
  package func isPart(of home: HomeCandidate) -> Bool {
    guard let core, let whole = home.core else { return false }
    return core.isOne(of: whole)
  }

  /// Made from another depth than the last wait here.
  private func isFar(from other: Site) -> Bool { isFar(from: other.stackPointer) }

  func isFar(from stackPointer: UInt64) -> Bool {
    max(site.stackPointer, stackPointer) - min(site.stackPointer, stackPointer) > Self.depthMargin
  }

  /// The same futex by the same instruction from about the depth of the last wait here. The frames above a wait are smaller
  /// or larger once they are compiled. Not from anywhere: a JVM has one futex for whatever a thread waits for.
  private func isOfSameFutex(as other: Site) -> Bool {
    site.isOnFutex(of: other) && !isFar(from: other)
  }

  /// The same poll or select, made at the same place, whose descriptors could be read only one of the two times.
  private func isReadOnlyOnce(with other: Site) -> Bool {
    site.kind == .poll && other.kind == .poll && site.isUnread != other.isUnread
      && site.stackPointer == other.stackPointer && site.programCounter == other.programCounter
  }

  package mutating func see(_ newSite: Site, at moment: Instant, isNewVisit: Bool) {
    if isNewVisit { visits += 1 } else { waited += moment - lastSeen }
    lastSeen = moment
    let isFurtherOut = newSite.stackPointer > shallowestStackPointer && isFar(from: newSite)
    if site.isUnread || !newSite.isUnread {
      let multiplexer = isOfSameFutex(as: newSite) ? site.multiplexer : newSite.multiplexer
      site = newSite
      site.multiplexer = multiplexer
    }
    shallowestStackPointer = max(shallowestStackPointer, newSite.stackPointer)
    if let descriptors = newSite.descriptors {
      let common = core?.intersection(descriptors) ?? descriptors
      // Until now for one descriptor alone, from further in: an answer, before the loop was there.
      core = common.isEmpty || common.count == 1 && isFurtherOut ? descriptors : common
    }
  }

  package var rank: Int { site.kind.rank }

  /// A wait on many things at once.
  package var isMultiplexer: Bool { rank >= 3 }

  /// Being a likely kind of wait is not enough: where a thread spends its time is its home. So too where the depth that
  /// tells the loop from what it calls is not known.
  package var isProvenByTime: Bool { !isMultiplexer || site.isKnownByKind }

  /// The loop came round: it is there, parked or not.
  mutating func pass(_ sight: PassSight) {
    if let pass = sight.lastPass { lastSeen = max(lastSeen, pass) }
    passes += min(sight.count, 1000)
  }

  /// The thread came back to it so often that it is no matter of one callback.
  var hasProvedItself: Bool { visits + passes >= 5 }

  /// The thread came back to it.
  package var wasReturnedTo: Bool { visits >= 2 }

  /// Enough is known to judge by it. A wait of a kind made for loops is believed at once, except a poll that will time
  /// out: a name look-up or a database call on the way to the real loop looks like that. Where all sleeps look the same
  /// there is no other.
  package var isBelievable: Bool {
    switch hint {
    case .loop: true
    case .work:
      lastSeen - firstSeen > EventLoopModel.abandonedAfter && visits >= EventLoopModel.visitsThatRefute
    case .none, .refuted: isBelievableByItself
    }
  }

  private var isBelievableByItself: Bool {
    if isMultiplexer { return wasReturnedTo || wasFoundHere || !site.hasTimeout }
    return visits >= 3 || site.kind == .unseen && wasFoundHere
  }

  /// A wait without an object of its own, made by the same instruction from about the same depth.
  package func isTwin(of other: HomeCandidate) -> Bool {
    guard case .place = site.multiplexer, case .place = other.site.multiplexer else { return false }
    return site.kind == other.site.kind && site.programCounter == other.site.programCounter
      && !isDeeper(than: other) && !other.isDeeper(than: self)
  }

  /// The same from further in. Compiled code has smaller frames than interpreted code, so that a loop comes to its wait from
  /// further out once it is compiled; what a handler waits for is further in.
  package func isDeeperTwin(of other: HomeCandidate) -> Bool {
    guard case .place = site.multiplexer, case .place = other.site.multiplexer else { return false }
    return site.kind == other.site.kind && site.programCounter == other.site.programCounter
      && isDeeper(than: other)
  }

  /// The same futex from somewhat further in or out: what a handler waits for, or the loop in code that is compiled no
  /// more. Between the loop's own frames as an interpreter and as a compiler makes them are 656 bytes in a JVM (17), from
  /// the loop's wait to that of the simplest handler 704 and more.
  package func isFutexTwin(of other: HomeCandidate) -> Bool {
    let (near, far) = (
      min(site.stackPointer, other.site.stackPointer), max(site.stackPointer, other.site.stackPointer)
    )
    return site.isOnFutex(of: other.site) && far - near <= 2 * Self.depthMargin
  }

  package func isDeeper(than other: HomeCandidate) -> Bool {
    shallowestStackPointer < other.shallowestStackPointer
      && other.shallowestStackPointer - shallowestStackPointer > Self.depthMargin
  }
}

extension Site {
  /// Both wait on it by the same instruction.
  fileprivate func isOnFutex(of other: Site) -> Bool {
    futex != nil && futex == other.futex && programCounter == other.programCounter
  }
}
