// Real programs as they were seen: each stalled once for 0.8 s while `scripts/record-fixtures` watched it.

import Foundation
import Recordings
import StallCore
import Testing

@Suite struct RecordedProgramTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
    path: "Recordings")

  static let programs: [String] = {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return files.filter { $0.hasSuffix(".stalls") }.map { String($0.dropLast(7)) }.sorted()
  }()

  private static let thresholds = [100, 200, 400, 700, 1_500]

  @Test func thereAreRecordings() { #expect(Self.programs.count >= 12) }

  /// With STALLWATCH_RECORD set the expected judgement is written instead: look at the difference before you commit it.
  @Test("a recorded program is judged as before, at every threshold", arguments: programs)
  func recordedProgramIsJudgedAsBefore(_ program: String) throws {
    let recording = try Self.recording(program)
    #expect(recording.problem == nil)
    let text = try Self.thresholds.map { try Self.judgement(of: recording, at: $0) }.joined()
    let file = Self.folder.appending(path: "\(program).expected")
    if ProcessInfo.processInfo.environment["STALLWATCH_RECORD"] != nil {
      try Data(text.utf8).write(to: file)
    } else {
      #expect(text == (try String(contentsOf: file, encoding: .utf8)))
    }
  }

  @Test(
    "the stall that was made is found below its length and not above, and nothing else", arguments: programs)
  func onlyTheStallThatWasMadeIsFound(_ program: String) throws {
    let recording = try Self.recording(program)
    for (threshold, count) in [(200, 1), (400, 1), (700, 1), (1_500, 0)] {
      let ended = try Self.stalls(in: recording, at: .milliseconds(threshold))
        .filter { $0.state != .ongoing && $0.proof != .none }
      #expect(ended.count == count, "\(program) at \(threshold) ms")
      for stall in ended {
        #expect((700...1_100).contains(stall.duration.likely.milliseconds), "\(program): \(stall.duration)")
        #expect(stall.duration.atLeast <= stall.duration.likely)
        #expect(stall.duration.atMost.map { $0 >= stall.duration.likely } ?? true)
      }
    }
  }

  private static func recording(_ program: String) throws -> Recording {
    try Recording([UInt8](Data(contentsOf: folder.appending(path: "\(program).stalls"))))
  }

  private static func stalls(in recording: Recording, at threshold: Duration) throws -> [Stall] {
    try said(of: recording, at: threshold).compactMap {
      switch $0.action {
      case .none: nil
      case .captureAndReport(let stall), .report(let stall): stall
      }
    }
  }

  private static func saturations(in recording: Recording, at threshold: Duration) throws -> [Saturation] {
    try said(of: recording, at: threshold).compactMap {
      if case .report(let saturation) = $0.saturation { saturation } else { nil }
    }
  }

  private static func said(of recording: Recording, at threshold: Duration) throws -> [RejudgedAction] {
    var judgement = try Rejudgement(recording, PhaseThresholds(normal: threshold))
    var said: [RejudgedAction] = []
    while !judgement.isAtEnd { said += judgement.next() }
    return said
  }

  private static func judgement(of recording: Recording, at threshold: Int) throws -> String {
    let lines = try stalls(in: recording, at: .milliseconds(threshold)).map { stall in
      let duration = stall.duration
      let most = duration.atMost.map { "\(milliseconds($0))" } ?? "?"
      return "  \(stall.id) \(stall.state): \(milliseconds(duration.likely)) ms "
        + "(\(milliseconds(duration.atLeast))…\(most)), \(stall.proof.rawValue), \(stall.stallClass.rawValue), "
        + "from \(milliseconds(stall.startedAt - recording.watch.startedAt)) ms\n"
    }
    let saturated = try saturations(in: recording, at: .milliseconds(threshold)).map { saturation in
      let duration = saturation.duration
      return "  \(saturation.id) saturated: \(milliseconds(duration.likely)) ms, \(saturation.state)\n"
    }
    return "over \(threshold) ms: \(lines.isEmpty ? "nothing" : "")\n" + (lines + saturated).joined()
  }

  private static func milliseconds(_ duration: Duration) -> Int { Int(duration.milliseconds.rounded()) }
}
