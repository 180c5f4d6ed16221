// Stalls as text.

internal import StallCore

/// What was already told of the episode that was last spoken of, so that it is not told twice.
struct ToldEpisode: Sendable {
  var id: Int?
  var cause: CauseRecord?
  var fingerprint: Fingerprint?
  var loopNesting: Int?
}

extension StallRecord {
  func lines(after told: inout ToldEpisode, clock: String, _ style: TextStyle) -> [String] {
    let isFirst = told.id != stall.id
    if isFirst { told = ToldEpisode(id: stall.id) }
    let label = isFirst ? style.palette.alarm("STALL") + "  " : ""
    var lines = isFirst ? [""] : []
    lines.append("\(clock)  \(label)\(sentence(style))")
    let isEverything = style.detail == .everything
    if let cause, isEverything ? cause != told.cause : cause.summary != told.cause?.summary {
      lines += cause.lines(style)
      told.cause = cause
    }
    if loopNesting != told.loopNesting {
      lines += nestingLine
      told.loopNesting = loopNesting
    }
    if isFirst || stall.state != .ongoing, let probe = stall.probe { lines.append("  \(probe.spoken)") }
    if stall.state != .ongoing, let meanwhile = stall.surroundings?.spoken { lines.append("  \(meanwhile)") }
    lines += shareLines(style)
    if isFirst { lines += doubt + (isEverything ? background : []) }
    if fingerprint != told.fingerprint || (isFirst && fingerprint == nil) {
      lines += stackLines(style)
      told.fingerprint = fingerprint
    }
    if stall.state != .ongoing, repetition.count > 1 { lines.append(repetition.line(" here", "this place")) }
    return lines
  }

  func unverifiedLines(clock: String, _ style: TextStyle) -> [String] {
    let label = style.palette.warning("PERHAPS")
    return ["", "\(clock)  \(label)  \(sentence(style))"]
      + ["  it slept in between where no look saw it: this may be many short jobs"]
      + (cause?.lines(style) ?? []) + nestingLine + background + stackLines(style)
  }

  /// "main thread, 500 ms and counting" or "main thread stalled for 1.331 s (± 1 ms) · 1.4 % on CPU, 98.6 % blocked".
  private func sentence(_ style: TextStyle) -> String {
    let palette = style.palette
    let probably = stall.isVerified || stall.proof == .none || stall.proof.isOfPhase ? "" : "probably "
    guard stall.state != .ongoing else {
      return "\(thread.spoken), \(probably)\(palette.strong(stall.duration.likely.spoken)) and counting"
        + (stall.inPhase.map { ", \($0)" } ?? "")
    }
    var text = "\(thread.spoken) \(probably)stalled for \(stall.duration.spoken(palette))"
    if let phase = stall.inPhase { text += " \(phase)" }
    if let interruption = stall.state.interruption { text += " \(interruption.spoken)" }
    let parts = stall.breakdown.spoken(style.detail == .everything ? 0 : 1)
    if !parts.isEmpty { text += " · " + parts }
    return shares?.count.map { text + " · " + $0 } ?? text
  }

  private var shares: SharesText? { SharesText(stacks, sampling) }

  /// Of a stall that goes on only what is not plain to see in its stack.
  private func shareLines(_ style: TextStyle) -> [String] {
    guard let shares else { return [] }
    if !shares.isOnePath { return shares.pathLines(style) }
    return stall.state == .ongoing ? [] : shares.blameLine(style)
  }

  private var nestingLine: [String] { loopNesting.map { ["  event loop nested \($0) deep"] } ?? [] }

  /// What "probably" means here.
  private var doubt: [String] {
    switch stall.proof {
    case .didNotMove, .breakpoint, .heartbeat, .ping, .none: []
    case .notSeenParked: ["  no look has found its loop idle since the program began"]
    case .notOver:
      ["  the time counts from when it was asked to \(stall.phase == .suspend ? "stop" : "end")"]
    case .otherKind: ["  it did not move once, but only the kinds of its waits could be seen"]
    case .neverSlept: ["  it never slept; a loop that always has something to do looks the same"]
    case .neverParked: ["  it slept, each time outside the loop's wait; it may have come round in between"]
    }
  }

  private var background: [String] {
    [
      "  \(stall.stallClass.rawValue), proof \(stall.proof.rawValue)"
        + (fingerprint.map { ", place \($0.text)" } ?? "")
    ]
  }

  /// Of the stalled thread's stacks the heaviest; with all details each.
  private func stackLines(_ style: TextStyle) -> [String] {
    stacks.enumerated().flatMap { index, stack in
      if index == 0 { return stack.lines(style) }
      guard let weight = stack.weight else { return ["  \(stack.thread.spoken)"] + stack.lines(style) }
      return style.detail == .everything ? ["  for \(weight.duration.spoken)"] + stack.lines(style) : []
    }
  }
}

extension Stall {
  /// "in the launch phase (2 s)".
  fileprivate var inPhase: String? {
    phase == .normal ? nil : "in the \(phase.rawValue) phase (\(threshold.spoken))"
  }
}

extension CauseRecord {
  func lines(_ style: TextStyle) -> [String] {
    let doubt =
      switch confidence {
      case .low: " (a guess)"
      case .medium: " (likely)"
      case .high: ""
      }
    let facts = style.detail == .everything ? evidence.map { "    · \($0.text)" } : []
    return ["  \(summary.text)\(doubt)"] + facts
  }
}

extension DurationEstimate {
  /// The uncertainty is half the distance of the bounds, and not worth a word below half a millisecond.
  func spoken(_ palette: Palette) -> String {
    guard let atMost else { return "at least \(palette.strong(atLeast.spoken))" }
    let uncertainty = (atMost - atLeast) / 2
    let likely = palette.strong(likely.spoken)
    return uncertainty < .microseconds(500) ? likely : "\(likely) (± \(uncertainty.spoken))"
  }
}

extension TimeBreakdown {
  /// "1.4 % on CPU, 98.6 % blocked"; nothing, and what is less than this many percent, is not named.
  func spoken(_ least: Double) -> String {
    let total = onCPU + runnable + blocked + stopped + stolen + blind
    let parts = [
      (onCPU, "on CPU"), (runnable, "waiting for a CPU"), (blocked, "blocked"), (stopped, "stopped"),
      (stolen, "taken by the hypervisor"), (blind, "not seen"),
    ]
    return parts.compactMap { part, name in
      guard let percent = Percent(part, of: total), percent.value > 0, percent.value >= least
      else { return nil }
      return "\(percent.spoken) \(name)"
    }.joined(separator: ", ")
  }
}

extension Interruption {
  var spoken: String {
    switch self {
    case .targetExited: "until the process ended"
    case .targetReplaced: "until the process became another program"
    case .targetStopped: "until the process was stopped"
    case .threadEnded: "until the thread ended"
    case .threadChanged: "until another thread was followed"
    case .watchEnded: "when the watch ended"
    case .rightsChanged: "until its waits were seen otherwise"
    case .machineSuspended: "until the machine stood still"
    case .askedToQuit: "until it was asked to end"
    }
  }
}
