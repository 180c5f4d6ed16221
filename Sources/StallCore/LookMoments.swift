// The moments at which looks fall: the same for all threads, so that one wake-up serves them, and at uneven distances.

/// A sequence without end. Each moment comes between half of a distance and the whole of it after the one before, 93 % of it
/// on the average.
///
/// A loop whose rounds fit into even distances would be seen at the same point of them for many seconds. So the distances
/// are in the order of a fixed generator. Steps of the golden ratio would be spread too well: any few of them add up to the
/// same, so that a loop whose rounds are as long as they are on the average was met in a small part of those only.
struct LookMoments: Sendable {
  private let longest: Int64
  /// How long the sequence goes on until it begins anew.
  private let cycle: Int64

  private static let distancesInACycle = 256

  init(longest distance: Duration) {
    longest = distance.nanoseconds
    var distances = Distances(longest: longest)
    cycle = (0..<Self.distancesInACycle).reduce(0) { sum, _ in sum + distances.next() }
  }

  /// The last one up to that moment.
  func last(upTo moment: Instant) -> Instant {
    var distances = Distances(longest: longest)
    var last = moment.nanoseconds - moment.nanoseconds % cycle
    var next = last + distances.next()
    while next <= moment.nanoseconds { (last, next) = (next, next + distances.next()) }
    return Instant(nanoseconds: last)
  }
}

private struct Distances {
  let longest: Int64
  private var state: UInt32 = 0

  init(longest: Int64) { self.longest = longest }

  /// The generator is that of Numerical Recipes, of which the upper bits are good. The sixth power of a fraction is seldom
  /// large: most distances are near the longest, and a few a good deal shorter, which moves looks within the rounds of a
  /// loop more than as many that are all a little shorter.
  mutating func next() -> Int64 {
    state = state &* 1_664_525 &+ 1_013_904_223
    let fraction = Double(state) / 4_294_967_296
    let cube = fraction * fraction * fraction
    return longest - Int64(Double(longest / 2) * cube * cube)
  }
}
