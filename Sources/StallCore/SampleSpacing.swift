// How far apart the samples of a stall are: evenly at first, then at doubling distances.

package enum SampleSpacing {
  /// A hundred a second, and not quite in step with whatever the program does every ten milliseconds.
  package static let shortest: Duration = .microseconds(9_900)
  /// How long the samples are that close together.
  package static let evenTime: Duration = .seconds(2)

  /// From two seconds on twice as far, from four on four times: each doubling of the time brings as many samples as the
  /// last one, however long the stall lasts.
  package static func distance(after elapsed: Duration) -> Duration {
    var (distance, end) = (shortest, evenTime)
    while elapsed >= end {
      distance = distance * 2
      end = end * 2
    }
    return distance
  }
}
