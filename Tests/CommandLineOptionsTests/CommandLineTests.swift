// What command lines mean, and how the refused ones are answered.

import Foundation
import StallCore
import Testing

@testable import CommandLineOptions

/// The invocation of a command line written with single blanks.
private func invocation(_ line: String) throws -> Invocation {
  try Invocation(line.split(separator: " ").map { ByteString(String($0)) })
}

private func options(_ line: String) throws -> Options {
  guard case .perform(let options) = try invocation(line) else {
    Issue.record("\(line) does not perform")
    return Options()
  }
  return options
}

private func refusal(_ words: [ByteString]) -> RefusedCommandLine? {
  do {
    _ = try Invocation(words)
    return nil
  } catch {
    return error
  }
}

@Suite struct CommandLineTests {
  @Test(arguments: ["--pid 42", "--pid=42", "-p 42", "-p42", "42", "-- 42", "watch 42", "-q 42 -v"])
  func waysToNameAProcess(line: String) throws {
    let options = try options(line == "-- 42" ? "watch -- 42" : line)
    #expect(options.command == .watch)
    #expect(options.target == .process(42))
  }

  @Test(arguments: [
    "run -- ./app -v", "-- ./app -v", "run ./app -v", "run -q -- ./app -v", "-q run -- ./app -v",
  ])
  func waysToRun(line: String) throws {
    let options = try options(line)
    #expect(options.command == .run)
    #expect(options.target == .program(["./app", "-v"]))
    #expect(options.verbosity == (line.contains("-q") ? .quiet : .normal))
  }

  @Test func aRunProgramKeepsItsBytes() throws {
    let name = ByteString([0x2F, 0xFF, 0x1B])
    guard case .perform(let options) = try Invocation(["run", "--", name, "--"]) else { return }
    #expect(options.target == .program([name, "--"]))
  }

  @Test func doctorNeedsNoProcessAndTakesOne() throws {
    #expect(try options("doctor").command == .doctor)
    #expect(try options("doctor --pid 42").target == .process(42))
    #expect(refusal(["doctor", "--json"])?.exitCode == .wrongUsage)
  }

  @Test func everyOptionReachesItsField() throws {
    let options = try options(
      "run -t250ms --cpu-threshold 85.5% --cpu-window 1m30s --interval 20ms --max-frames 64 --never-stop --cpu-only "
        + "--symbols none --json -o fd:3 --for 1.5s --count 2 --fail-on-stall --color=always -qv "
        + "--user anna --timeout 1m --stacks busy -- x")
    var expected = Options()
    expected.command = .run
    expected.target = .program(["x"])
    expected.threshold = .milliseconds(250)
    expected.cpuThreshold = 85.5
    expected.cpuWindow = .seconds(90)
    expected.interval = .milliseconds(20)
    expected.maxFrames = 64
    expected.neverStop = true
    expected.cpuOnly = true
    expected.symbols = .none
    expected.outputKind = .json
    expected.output = .descriptor(3)
    expected.duration = .milliseconds(1500)
    expected.count = 2
    expected.failOnStall = true
    expected.user = "anna"
    expected.stacks = .busy
    expected.timeout = .seconds(60)
    expected.color = .always
    expected.verbosity = .verbose
    #expect(options == expected)
  }

  @Test func optionsOfAttachingReachTheirFields() throws {
    let watch = try options("--name viewer --wait --thread 43")
    #expect(watch.target == .named("viewer") && watch.wait && watch.thread == .id(43))
    let dump = try options("dump --name viewer --thread main")
    #expect(dump.target == .named("viewer") && dump.thread == .main)
    #expect(try options("42").thread == nil)
  }

  @Test func phasesAreReadOneByOne() throws {
    let options = try options("42 -t 1s --watchdog --phase launch=5s --phase quit=1m --phase quit=2s")
    #expect(options.watchdog && options.phases == [.launch: .seconds(5), .quit: .seconds(2)])
    let thresholds = options.phaseThresholds
    #expect(thresholds[.launch] == .seconds(5) && thresholds[.quit] == .seconds(2))
    #expect(thresholds[.resume] == .seconds(10) && thresholds[.normal] == .seconds(1))
  }

  @Test(arguments: [
    ("launch", "is no phase"), ("start=5s", "is no phase"), ("normal=5s", "is no phase"),
    ("quit=5", "has no unit"), ("quit=", "is not a duration"), ("quit=1ms", "is too short"),
  ])
  func phaseThatIsNoneIsRefused(_ value: String, _ why: String) {
    #expect(refusal(["42", "--phase", ByteString(value)])?.reason.text.contains(why) == true)
  }

  @Test(
    arguments: [
      ("http://localhost", ["127.0.0.1", "::1"], 80, "/"),
      ("http://127.0.0.1:8080/health?x=1", ["127.0.0.1"], 8080, "/health?x=1"),
      ("http://[::1]:81/", ["::1"], 81, "/"), ("tcp://10.0.0.1:25", ["10.0.0.1"], 25, nil),
    ] as [(String, [String], UInt16, String?)])
  func probesAreRead(_ text: String, _ hosts: [String], _ port: UInt16, _ request: String?) throws {
    let probe = try #require(try options("42 --probe \(text)").probe)
    #expect(probe.endpoint == .hosts(hosts, port: port) && probe.request == request)
  }

  @Test func probeOfAPathIsRead() throws {
    #expect(try options("42 --probe unix:/run/a.sock").probe?.endpoint == .path("/run/a.sock"))
    #expect(try options("42 --probe unix:///run/a.sock").probe?.endpoint == .path("/run/a.sock"))
  }

  @Test(arguments: [
    ("https://localhost", "TLS"), ("http://example.org/", "names a host"),
    ("tcp://localhost", "nothing that can"),
    ("tcp://localhost:80/x", "nothing that can"), ("http://localhost:0/", "nothing that can"),
    ("http://localhost:99999/", "nothing that can"), ("unix:relative", "nothing that can"),
    ("localhost:80", "nothing that can"), ("http://localhost/\r\nX", "nothing that can"),
    ("", "nothing that can"),
  ])
  func probeThatIsNoneIsRefused(_ value: String, _ why: String) {
    #expect(refusal(["42", "--probe", ByteString(value)])?.reason.text.contains(why) == true)
  }

  @Test func theLastOfARepeatedOptionCounts() throws {
    let options = try options(
      "-t 1s 42 --threshold 2s -v -q --pid 43 --pid 44 -o - -o x".replacing("42 ", with: ""))
    #expect(options.threshold == .seconds(2))
    #expect(options.verbosity == .quiet)
    #expect(options.target == .process(44))
    #expect(options.output == .file("x"))
  }

  @Test func defaultsOfTheTableAreThoseOfTheOptions() throws {
    var options = Options()
    for case .value(_, let standard?, let apply) in optionTable.map(\.effect) {
      try apply(standard, &options)
    }
    #expect(options == Options())
  }

  @Test func helpAndVersionWinOverWhatIsMissing() throws {
    #expect(try invocation("--help") == .help(nil))
    #expect(try invocation("run -h") == .help(.run))
    #expect(try invocation("dump --pid 0 --help") == .help(.dump))
    #expect(try invocation("-V") == .version)
    #expect(try invocation("--generate man") == .generate(.manual))
    #expect(try options("run -- app --help").target == .program(["app", "--help"]))
  }

  @Test(arguments: Command.allCases)
  func helpNamesTheOptionsOfTheCommandAlone(command: Command) {
    let help = helpText(for: command)
    for option in optionTable {
      let isNamed = help.split(separator: "\n").contains { $0.contains("--\(option.long) ") }
      #expect(isNamed == option.commands.contains(command), "\(option.long)")
    }
    #expect(help.split(separator: "\n").allSatisfy { $0.count <= 100 })
  }

  @Test func namesInTheTableAreUnique() {
    let long = optionTable.flatMap { [$0.long] + ($0.alias.map { [$0] } ?? []) }
    let short = optionTable.compactMap(\.short)
    #expect(Set(long).count == long.count)
    #expect(Set(short).count == short.count)
  }
}

@Suite struct RefusalTests {
  @Test("X-04: refused command lines, process ids among them, say what to try") func refusalsSayWhatToTry()
    throws
  {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Refusals.txt")
    let transcript = try String(contentsOf: file, encoding: .utf8)
    for part in transcript.split(separator: "\n\n") {
      let lines = part.split(separator: "\n", maxSplits: 1)
      let words = lines[0].split(separator: " ").dropFirst(2)
      let refused = refusal(words.map { ByteString(String($0)) })
      let answer = "stallwatch: " + (refused?.reason.text ?? "not refused")
      #expect(answer == lines[1].trimmingCharacters(in: .newlines))
      #expect(refused?.exitCode == (["run", "--"].contains(words.first) ? .runFailed : .wrongUsage))
    }
  }

  @Test("X-04: blanks around a process id are asked about") func blanksAroundAProcessIDAreAskedAbout() {
    #expect(
      refusal(["--pid", " 42 "])?.reason.text == "--pid ' 42 ' is not how a process id is written; 42?")
    #expect(
      refusal(["--pid", ""])?.reason.text
        == "--pid '' is not a process id\n  next: `pgrep NAME` prints the ids of a program")
  }

  @Test("OUT-04: what was typed is escaped") func whatWasTypedIsEscaped() {
    #expect(refusal(["--\u{1B}[2J"])?.reason.text.contains("\u{1B}") == false)
    #expect(refusal(["\u{1B}]0;x\u{7}"])?.reason.text.contains("\u{1B}") == false)
    #expect(refusal(["1", "-o", ByteString([0xFF])])?.reason == .notText(option: "-o"))
    #expect(refusal(["-\u{E9}"])?.reason == .unknownOption("-\u{E9}", nearest: nil))
  }
}

@Suite struct DurationTests {
  @Test(arguments: [
    ("500ms", 500_000_000), ("1.5s", 1_500_000_000), ("2m", 120_000_000_000), ("1m30s", 90_000_000_000),
    ("250us", 250_000), (".5s", 500_000_000), ("1h", 3_600_000_000_000), ("0m1s", 1_000_000_000),
    ("1.000000001s", 1_000_000_001), ("1m.5s", 60_500_000_000),
  ])
  func isRead(text: String, nanoseconds: Int64) throws {
    #expect(try readDuration(text, likely: "ms") == .nanoseconds(nanoseconds))
  }

  @Test func isWrittenAsItCanBeTyped() throws {
    for text in ["500ms", "90s", "2m", "250us", "87600h"] {
      #expect(durationText(try readDuration(text, likely: "ms")) == text)
    }
  }
}
