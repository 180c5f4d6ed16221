// `stallwatch doctor`: what this machine and this user allow, and the one next step.

internal import CommandLineOptions
internal import Glibc
internal import Linux
internal import StallCore

struct DoctorCommand {
  private let options: Options

  init(_ options: Options) { self.options = options }

  /// Fails with 1 when something is missing.
  func run() throws(ProgramFailure) -> ExitCode {
    let asked =
      try processID().map { (id) throws(ProgramFailure) in Doctor.examine(try WatchedProcess(id)) } ?? []
    let surroundings = Doctor.examineSurroundings()
    let findings = surroundings + asked
    let text = Self.table(findings) + Self.nextStep(asked + surroundings)
    do throws(Errno) { try writeAll(Array(text.utf8), to: STDOUT_FILENO) } catch {
      if error != .brokenPipe { return .internalFailure }
    }
    return findings.allSatisfy { $0.verdict == .yes } ? .success : .somethingMissing
  }

  private func processID() throws(ProgramFailure) -> Int32? {
    switch options.target {
    case .process(let id): id
    case .named(let name): try ProcessSearch(name: name).only(for: .doctor)
    case .program, .recording: nil
    }
  }

  private static func table(_ findings: [DoctorFinding]) -> String {
    let groupWidth = findings.map(\.group.count).max() ?? 0
    let whatWidth = findings.map(\.what.count).max() ?? 0
    var group = ""
    var lines = [row("", "", "here", "", groupWidth, whatWidth)]
    for finding in findings {
      let shown = finding.group == group ? "" : finding.group
      group = finding.group
      lines.append(row(shown, finding.what, finding.verdict.rawValue, finding.note, groupWidth, whatWidth))
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func row(
    _ group: String, _ what: String, _ verdict: String, _ note: String, _ groupWidth: Int, _ whatWidth: Int
  ) -> String {
    let text =
      padded(group, to: groupWidth + 2) + padded(what, to: whatWidth + 2) + padded(verdict, to: 8) + note
    return String(text.reversed().drop { $0 == " " }.reversed())
  }

  private static func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  /// The first thing that is missing and that something can be done about.
  private static func nextStep(_ findings: [DoctorFinding]) -> String {
    let next = findings.first { $0.verdict != .yes && $0.next != nil }?.next.map { "next: \($0)\n" }
    return (next ?? "") + (findings.lazy.compactMap { $0.remedy?.advice }.first ?? "")
  }
}
