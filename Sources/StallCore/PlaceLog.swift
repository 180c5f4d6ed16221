// Which places stalled how often and how long, over the whole watch, and which of their episodes are reported.

/// One statement about an episode, before it is decided whether it becomes a record.
package struct EpisodeStatement: Sendable {
  package enum Kind: Hashable, Sendable {
    case stall
    /// Perhaps a stall.
    case unverified
    case saturation(thread: Int32)
  }

  /// The same for every statement about an episode.
  package var id: Int
  package var kind: Kind
  package var isLast: Bool
  package var duration: Duration
  package var stack: Stack?
  package var cause: CauseKind?

  package init(
    id: Int, kind: Kind, isLast: Bool, duration: Duration, stack: Stack? = nil, cause: CauseKind? = nil
  ) {
    self.id = id
    self.kind = kind
    self.isLast = isLast
    self.duration = duration
    self.stack = stack
    self.cause = cause
  }

  fileprivate var place: EpisodePlace? {
    if case .saturation = kind { return EpisodePlace(kind: kind, identity: nil) }
    guard let stack, !stack.frames.isEmpty else { return nil }
    return EpisodePlace(kind: kind, identity: PlaceIdentity(stack))
  }
}

/// What episodes are counted by.
private struct EpisodePlace: Hashable {
  var kind: EpisodeStatement.Kind
  /// Saturation is a state of the loop and has no place in the code.
  var identity: PlaceIdentity?
}

/// All stalls of one place.
package struct PlaceTotals: Sendable {
  package let fingerprint: Fingerprint
  /// What to call it.
  package let name: ByteString
  package fileprivate(set) var count: Int
  package fileprivate(set) var time: Duration
  package fileprivate(set) var cause: CauseKind?

  package init(
    fingerprint: Fingerprint, name: ByteString, count: Int = 0, time: Duration = .zero,
    cause: CauseKind? = nil
  ) {
    self.fingerprint = fingerprint
    self.name = name
    self.count = count
    self.time = time
    self.cause = cause
  }
}

package struct PlaceLog: Sendable {
  fileprivate struct Place {
    var spacing: ReportSpacing
    var count = 0
    /// Nil of what is no stall.
    var stalls: PlaceTotals?
  }

  private enum Verdict {
    case report, placeIsQuiet, dayIsFull
  }

  /// Beyond this the places with the least time are forgotten.
  private static let mostPlaces = 1_000
  /// One at a time for each thread that is followed.
  private static let mostOpenEpisodes = 1_000

  /// Zero: everything is reported.
  private let cooldown: Duration
  private var limit = DailyLimit()
  private var places: [EpisodePlace: Place] = [:]
  /// Episodes that were reported and are not over: what has begun is told to its end.
  private var told: Set<Int> = []
  /// Until then some place is not reported.
  private var someQuietUntil: Instant?
  /// Stalls that are in no record.
  package private(set) var suppressedStalls = 0

  package init(cooldown: Duration) { self.cooldown = cooldown }

  /// Counts an episode once, when it is over. Nil: it is not reported, or not yet.
  package mutating func judge(_ statement: EpisodeStatement, at moment: Instant) -> Repetition? {
    defer { if statement.isLast { told.remove(statement.id) } }
    let key = statement.place
    var place = key.map { places[$0] ?? newPlace(for: statement) }
    if statement.isLast { place?.count(statement) }
    let repetition = judge(statement, &place, at: moment)
    if let key, let place { keep(place, key) }
    return repetition
  }

  private mutating func judge(
    _ statement: EpisodeStatement, _ place: inout Place?, at moment: Instant
  ) -> Repetition? {
    let verdict = verdict(on: statement, place, at: moment)
    guard verdict == .report else {
      if statement.isLast {
        place?.spacing.suppress(at: moment)
        if verdict == .dayIsFull { limit.suppress() }
        if statement.kind == .stall { suppressedStalls += 1 }
      }
      return nil
    }
    if told.count < Self.mostOpenEpisodes { told.insert(statement.id) }
    guard var known = place else { return Repetition() }
    let suppressed = known.spacing.suppressed
    let quiet = known.spacing.report(statement.duration, isLast: statement.isLast, at: moment)
    place = known
    if folds(statement) { someQuietUntil = max(someQuietUntil ?? moment, moment + quiet) }
    return Repetition(
      count: statement.isLast ? known.count : known.count + 1, suppressed: suppressed,
      quiet: statement.isLast && folds(statement) ? quiet : nil)
  }

  private mutating func verdict(
    on statement: EpisodeStatement, _ place: Place?, at moment: Instant
  ) -> Verdict {
    if cooldown == .zero || told.contains(statement.id) { return .report }
    if let place, folds(statement), !place.spacing.isDue(statement.duration, at: moment) {
      return .placeIsQuiet
    }
    return limit.admits(statement.duration, at: moment) ? .report : .dayIsFull
  }

  private func folds(_ statement: EpisodeStatement) -> Bool {
    cooldown > .zero && statement.stack?.identifiesPlace ?? (statement.place != nil)
  }

  private func newPlace(for statement: EpisodeStatement) -> Place {
    let stack = statement.kind == .stall ? statement.stack : nil
    return Place(
      spacing: ReportSpacing(cooldown: cooldown),
      stalls: stack.map { PlaceTotals(fingerprint: Fingerprint($0), name: $0.placeName) })
  }

  private mutating func keep(_ place: Place, _ key: EpisodePlace) {
    if places.count >= Self.mostPlaces, places[key] == nil,
      let least = places.min(by: { $0.value.time < $1.value.time })
    {
      places[least.key] = nil
    }
    places[key] = place
  }

  /// It depends on the place whether an episode is reported now.
  package func dependsOnPlace(at moment: Instant) -> Bool { someQuietUntil.map { moment < $0 } ?? false }

  /// What to say of the daily limit.
  package mutating func takeLimitChange() -> DailyLimit.Change? { limit.takeChange() }

  /// Of stalls, most time first.
  package func longestPlaces(_ most: Int) -> [PlaceTotals] {
    let stalls = places.values.compactMap(\.stalls).filter { $0.count > 0 }
    return Array(stalls.sorted { $0.time > $1.time }.prefix(most))
  }
}

extension PlaceLog.Place {
  fileprivate var time: Duration { stalls?.time ?? .zero }

  fileprivate mutating func count(_ statement: EpisodeStatement) {
    count += 1
    stalls?.count += 1
    stalls?.time += statement.duration
    if let cause = statement.cause { stalls?.cause = cause }
  }
}
