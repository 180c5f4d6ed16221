// The summary as text.

internal import StallCore

private let placesShown = 10

extension SummaryRecord {
  func lines(_ style: TextStyle, judgesStalls: Bool) -> [String] {
    let sentence = judgesStalls ? stallSentence : "stalls were not judged"
    var lines = ["", "watched \(watched.duration.spoken) · \(sentence)" + otherCounts]
    if let median, let percentile95 {
      lines.append(
        "  half of them within \(median.duration.spoken), 95 % within \(percentile95.duration.spoken)")
    }
    if suppressed > 0 { lines.append("  \(grouped(suppressed)) of them not shown one by one") }
    let table = places.prefix(style.detail == .everything ? places.count : placesShown)
    lines += table.map { $0.line(placeColumn: min(44, table.map(\.place.text.count).max() ?? 0)) }
    if places.count > table.count { lines.append("  … \(counted(places.count - table.count, "more place"))") }
    if !nearMisses.isEmpty {
      lines.append(
        "longest below the threshold: " + nearMisses.map(\.duration.spoken).joined(separator: ", "))
    }
    if saturations > 0 {
      lines.append(
        "not idle for the threshold, with many short jobs: \(grouped(saturations)) ×, \(saturated.duration.spoken)"
      )
    }
    if let suggestion { lines.append(advice(suggestion)) }
    if let responses { lines.append(responses.line) }
    if let parked { lines.append("idle \(parked.spoken) of the time") }
    if unverified > 0, style.detail != .everything {
      lines.append("\(counted(unverified, "spell")) may have been stalls or many short jobs (-v shows them)")
    }
    if let probe { lines.append(probe.line) }
    return lines + [ownCost.line]
  }

  private var stallSentence: String {
    guard let longest else { return "no stalls" }
    let text = "\(counted(stalls, "stall")), \(total.duration.spoken)"
    return stalls == 1 ? text : text + " in all, longest \(longest.duration.spoken)"
  }

  private func advice(_ suggestion: SuggestedThreshold) -> String {
    let threshold = suggestion.threshold.spoken
    if suggestion.stalls > stalls {
      return
        "a threshold of \(threshold) would have caught at least \(grouped(suggestion.stalls - stalls)) more"
    }
    let rate = Int((Double(stalls) * 60 / max(1, watched.duration.seconds)).rounded())
    return
      "\(counted(rate, "stall")) a minute: a threshold of \(threshold) would leave \(grouped(suggestion.stalls)) in all"
  }

  private var otherCounts: String {
    phases.spoken + (busyThreads > 0 ? " · \(counted(busyThreads, "busy thread"))" : "")
      + (unverified > 0 ? " · \(grouped(unverified)) unverified" : "")
  }
}

extension PhaseCountRecord {
  /// " · 1 slow launch".
  fileprivate var spoken: String {
    [
      (launch, "slow launch", "slow launches"), (suspend, "slow stop", "slow stops"),
      (quit, "slow end", "slow ends"),
    ]
    .filter { $0.0 > 0 }.map { " · \(grouped($0.0)) \($0.0 == 1 ? $0.1 : $0.2)" }.joined()
  }
}

extension PlaceSummary {
  fileprivate func line(placeColumn: Int) -> String {
    let numbers = paddedLeft("\(grouped(count)) ×", to: 6) + paddedLeft(total.duration.spoken, to: 10)
    return "  " + padded(place.text, to: placeColumn) + numbers + (cause.map { "   \($0.rawValue)" } ?? "")
  }
}

extension ResponseSummary {
  fileprivate var line: String {
    "answered \(counted(count, "ping")): half within \(median.duration.spoken), 99 % within "
      + "\(percentile99.duration.spoken), longest \(longest.duration.spoken)"
  }
}

extension OwnCost {
  fileprivate var line: String {
    let share = cpuPercent.map { "\($0.spoken) of a core" } ?? cpuTime.duration.spoken
    let stopped = Duration.microseconds(targetStopped).spoken
    return
      "own cost: \(share), \(counted(looks, "look")), \(grouped(lateLooks)) late; target stopped \(stopped)"
  }
}
