// What is said of reports that were not made.

package import StallCore

extension Repetition {
  /// "third time here (1 not shown); next report of this place in 20 s"
  func line(_ place: String, _ subject: String) -> String {
    "  \(ordinal(count)) time\(place)" + (suppressed == 0 ? "" : " (\(grouped(suppressed)) not shown)")
      + (quiet.map { "; next report of \(subject) in \($0.spoken)" } ?? "")
  }
}

extension DailyLimit.Change {
  package var sentence: String {
    switch self {
    case .reached(let reported, let lasts):
      "\(grouped(reported)) episodes were reported today: for \(lasts.spoken) further ones are only counted, "
        + "unless they are much longer"
    case .lifted(let suppressed):
      "a day is over: episodes are reported again; \(grouped(suppressed)) were only counted"
    }
  }
}
