// Header, busy threads, the end of the process and dumps as text.

internal import StallCore

extension AttachRecord {
  func lines(processID: Int32, _ style: TextStyle) -> [String] {
    var what =
      observer.judgesStalls
      ? "stalls over \(threshold.duration.spoken)" : "stalls are not judged (--cpu-only)"
    if let cpuThreshold { what += ", threads over \(cpuThreshold.spoken) CPU" }
    let life = generation > 1 ? " (process \(generation) of this watch)" : ""
    var lines = [
      "watching \(style.palette.strong(name.text)) \(processID)\(life) · \(thread.spoken) · \(what)"
    ]
    let ways = captureWays.map(\.rawValue).joined(separator: ", ")
    lines.append("  seeing through \(observer.spoken); " + (ways.isEmpty ? "no stacks" : "stacks by \(ways)"))
    if thread.role != .main || style.detail == .everything {
      lines.append("  following \(thread.spoken): \(threadReason.text)")
    }
    lines += missing.map { "  \($0.sentence)" }
    if style.detail == .everything {
      if let executable {
        lines.append("  \(executable.text)" + (buildID.map { ", build-id \($0.text)" } ?? ""))
      }
      lines.append("  \(counted(threads, "thread"))")
    }
    return lines
  }
}

extension BusyThreadRecord {
  func lines(clock: String, _ style: TextStyle) -> [String] {
    let label = style.palette.warning("CPU")
    let share = style.palette.strong(percent.spoken)
    return ["", "\(clock)  \(label)    \(thread.spoken): \(share) over \(window.duration.spoken)"]
      + (cause?.lines(style) ?? []) + (SharesText(stacks, sampling)?.pathLines(style) ?? [])
      + stacks.prefix(style.detail == .everything ? stacks.count : 1).flatMap { $0.lines(style) }
  }
}

extension ProcessEnd {
  var sentence: String {
    switch self {
    case .unknown: "the process ended"
    case .exited(let status): "the process ended with status \(status)"
    case .signalled(let signal): "the process was ended by \(signalName(signal))"
    }
  }
}

extension ExitRecord {
  var survivorLines: [String] {
    (survivors ?? []).map {
      "  \($0.name.text) (pid \($0.id)), which it started, still runs; stallwatch --pid \($0.id)"
    }
  }
}

extension ThreadDumpRecord {
  func lines(_ style: TextStyle) -> [String] {
    [style.palette.strong(thread.heading)] + stacks.flatMap { $0.lines(style) }
  }
}

extension DumpSummaryRecord {
  var lines: [String] {
    var text = counted(threads, "thread")
    if withoutStack > 0 { text += ", \(grouped(withoutStack)) without a stack" }
    if omitted > 0 { text += ", \(grouped(omitted)) more not shown" }
    let stopped = Duration.microseconds(targetStopped).spoken
    return [text + " · in \(took.duration.spoken); target stopped \(stopped)"]
      + (missingStacks ?? []).map(\.line)
  }
}

extension MissingStacks {
  fileprivate var line: String { "  \(counted(threads, "thread")) without a stack: \(reason.text)" }
}

/// Signals of Linux on x86-64 and arm64 from number 1, as in signal(7).
private let signalNames = [
  "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM",
  "TERM",
  "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH",
  "IO",
  "PWR", "SYS",
]

private func signalName(_ number: Int32) -> String {
  let index = Int(number) - 1
  return signalNames.indices.contains(index) ? "SIG\(signalNames[index])" : "signal \(number)"
}
