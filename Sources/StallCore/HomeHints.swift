// How hints of the first stack weigh against each other, and where they were given.

/// Where in the program a wait is made.
package struct WaitPlace: Hashable, Sendable {
  let kind: WaitKind
  let stackPointer: UInt64
  let programCounter: UInt64

  package init(_ site: Site) {
    (kind, stackPointer, programCounter) = (site.kind, site.stackPointer, site.programCounter)
  }
}

extension HomeCandidate {
  /// Whether this one takes the place of that home; nil where the hints leave it to experience. False still yields to
  /// a thread that does not come back to its home any more.
  func isToldToReplace(_ home: HomeCandidate) -> Bool? {
    switch (home.hint, hint) {
    case (.work, .work), (.loop, .loop): nil
    case (.work, _): true
    case (_, .work): false
    case (.loop, _): false
    // A library that runs a loop of its own inside of what the loop calls.
    case (_, .loop): !(home.wasReturnedTo && isDeeper(than: home))
    case (.none, _), (.refuted, _): nil
    }
  }

  /// The thread has gone from this home to another, against what was said: both are judged by experience from now on.
  func hintsRefuted(by other: HomeCandidate) -> (home: HomeHint, other: HomeHint)? {
    guard other.isToldToReplace(self) == false else { return nil }
    return (hint == .loop ? .refuted : hint, other.hint == .work ? .refuted : other.hint)
  }
}

/// Places from which a wait on the loop's own multiplexer is work: an answer of the display server comes through the
/// same socket as the events.
struct WorkPlaces: Sendable {
  private var places = InlineArray<8, WaitPlace?>(repeating: nil)
  private var next = 0
  /// The thread was last seen to wait elsewhere.
  private var lastElsewhere: Instant?
  private var visitsSince = 0

  mutating func add(_ place: WaitPlace) {
    if contains(place) { return }
    places[next] = place
    next = (next + 1) % places.count
  }

  mutating func remove(_ place: WaitPlace) {
    for index in places.indices where places[index] == place { places[index] = nil }
  }

  private func contains(_ place: WaitPlace) -> Bool {
    for index in places.indices where places[index] == place { return true }
    return false
  }

  /// A thread that comes back from there to nowhere else for so long idles there, whatever was said.
  mutating func isWork(_ site: Site, isNewVisit: Bool, at moment: Instant) -> Bool {
    guard contains(WaitPlace(site)) else {
      (lastElsewhere, visitsSince) = (moment, 0)
      return false
    }
    if isNewVisit { visitsSince += 1 }
    let isAllThereIs =
      lastElsewhere.map { moment - $0 > EventLoopModel.abandonedAfter } ?? false
      && visitsSince >= EventLoopModel.visitsThatRefute
    if isAllThereIs { remove(WaitPlace(site)) }
    lastElsewhere = lastElsewhere ?? moment
    return !isAllThereIs
  }
}
