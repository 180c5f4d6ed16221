// Which places stalled how often and how long, over the whole watch.

internal import Reports
internal import StallCore

struct PlaceLog {
  private struct Place {
    var name: ByteString
    var count = 0
    var total: Duration = .zero
    var cause: CauseKind?
  }

  /// Beyond this the places with the least time are forgotten.
  private static let mostPlaces = 1_000
  private static let mostInSummary = 10

  private var places: [Fingerprint: Place] = [:]

  /// Counts an episode once, when it is over.
  mutating func count(_ stall: Stall, stack: Stack?, cause: CauseKind?) -> Repetition {
    guard let stack, !stack.frames.isEmpty, stall.proof != .none else { return Repetition() }
    let fingerprint = Fingerprint(stack)
    var place = places[fingerprint] ?? Place(name: stack.placeName)
    defer {
      if places.count >= Self.mostPlaces, places[fingerprint] == nil { forgetLeast() }
      places[fingerprint] = place
    }
    guard stall.state != .ongoing else { return Repetition(count: place.count + 1) }
    place.count += 1
    place.total += stall.duration.likely
    place.cause = cause ?? place.cause
    return Repetition(count: place.count)
  }

  private mutating func forgetLeast() {
    if let least = places.min(by: { $0.value.total < $1.value.total }) { places[least.key] = nil }
  }

  /// Most time first.
  var summaries: [PlaceSummary] {
    places.sorted { $0.value.total > $1.value.total }.prefix(Self.mostInSummary).filter { $0.value.count > 0 }
      .map {
        PlaceSummary(
          fingerprint: $0.key, place: $0.value.name, count: $0.value.count, total: $0.value.total,
          cause: $0.value.cause)
      }
  }
}

extension Stack {
  /// What to call the place: the innermost function of the program's own file, else the innermost that has a name.
  /// The program's own file is that of the outermost named frame of `main`. Inlined calls do not count, as in
  /// fingerprints.
  var placeName: ByteString {
    let main = frames.last { $0.symbol == "main" }?.module
    let functions = frames.filter { !$0.isInlined }
    let own = functions.first { $0.symbol != nil && $0.module != nil && $0.module == main }
    let named = own ?? functions.first { $0.symbol != nil }
    return named?.symbol ?? frames.first?.module?.name ?? "?"
  }
}
