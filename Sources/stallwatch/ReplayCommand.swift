// `stallwatch replay`: judges a recording again. It asks no clock and no process: the same words give the same bytes.

internal import CommandLineOptions
internal import Glibc
internal import Linux
internal import Recordings
internal import Reports
internal import StallCore

struct ReplayCommand {
  private let options: Options
  private let file: ByteString

  private static let mostBytes = 1 << 30

  init(_ options: Options) {
    self.options = options
    file = if case .recording(let name) = options.target { name } else { "" }
  }

  func run() throws(ProgramFailure) -> ExitCode {
    let recording: Recording
    let judgement: Rejudgement
    let bytes = try read()
    do throws(RecordingProblem) {
      recording = try Recording(bytes)
      judgement = try Rejudgement(recording, options.phaseThresholds, home: options.home)
    } catch { throw refusal(error) }
    let rules = try LoopRulesFile.rules(for: .replay)
    let output = try ReportOutput(options.output, standard: STDOUT_FILENO)
    let origin = RecordOrigin(
      watchID: recording.watch.watchID, host: recording.watch.host, processID: recording.watch.processID)
    var replay = Replay(
      recording, judgement, options, Reporter(options, origin, output: output, rules: rules))
    do throws(ReportOutput.Failure) { try replay.run(remarks(recording)) } catch {
      guard case .readerGone = error else {
        throw ProgramFailure(code: .internalFailure, text: "cannot write the reports")
      }
    }
    return options.failOnStall && replay.hasVerifiedStalls ? .stallsSeen : .success
  }

  private func read() throws(ProgramFailure) -> [UInt8] {
    guard let opened = RegularFile(path: file.bytes) else {
      throw ProgramFailure(
        code: .wrongUsage, text: "cannot read \(file.escaped): no such file, or one that may not be read",
        next: "stallwatch --pid PID --record FILE makes one")
    }
    do throws(Errno) { return try opened.takeDescriptor().readAll(limit: Self.mostBytes) } catch {
      throw ProgramFailure(code: .wrongUsage, text: "cannot read \(file.escaped): \(error.text)")
    }
  }

  private func refusal(_ problem: RecordingProblem) -> ProgramFailure {
    switch problem {
    case .notARecording:
      ProgramFailure(
        code: .wrongUsage, text: "\(file.escaped) is not a stallwatch recording",
        next: "stallwatch --pid PID --record FILE makes one")
    case .newerFormat:
      ProgramFailure(
        code: .wrongUsage, text: "\(file.escaped) was written by a newer stallwatch",
        next: "replay it with that one")
    case .endsEarly:
      ProgramFailure(code: .wrongUsage, text: "\(file.escaped) ends before anything was watched")
    case .damaged:
      ProgramFailure(code: .wrongUsage, text: "\(file.escaped) is damaged where it begins")
    }
  }

  /// What the recording cannot tell.
  private func remarks(_ recording: Recording) -> (before: [String], after: [String]) {
    var before: [String] = []
    let wanted = LookSchedule(threshold: options.threshold, interval: nil).calmInterval
    if recording.longestDistance > wanted * 3 / 2 {
      before.append(
        "looks are up to \(recording.longestDistance.spoken) apart, recorded for stalls over "
          + "\(recording.watch.threshold.spoken): shorter ones may be missed or be told with wide bounds")
    }
    var after: [String] = []
    if recording.looksMissing > 0 {
      after.append("\(recording.looksMissing) looks are missing: they came faster than they could be written")
    }
    switch recording.problem {
    case .endsEarly: after.append("\(file.escaped) ends early: replayed what is there")
    case .damaged(let place):
      after.append("\(file.escaped) is damaged at byte \(place): replayed what is before that")
    case .notARecording, .newerFormat, nil: break
    }
    return (before, after)
  }
}
