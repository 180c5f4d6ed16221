// The analyst as a process: what it finds, what it may not, and what is left when it dies.

import Glibc
import Linux
import Stacks
import StallCore
import Symbols
import TestSupport
import Testing

@testable import Analysis

@Suite struct AnalystTests {
  /// A thread in `read` on an empty pipe, and its mappings.
  private struct Captured {
    let process: Int32
    let capture: RawCapture
    let maps: SealedBytes

    init(_ target: borrowing TargetProcess) throws {
      let id = target.processID
      _ = try eventually { () throws(Errno) in try threadStates(of: id).values.contains("S") }
      var helper = Captured.helper()
      process = id
      capture = try helper.capture(
        processID: id, threadID: id, rules: CaptureRules(), deadline: .seconds(5))
      maps = try helper.readMaps(processID: id, threadID: id, deadline: .seconds(5))
    }

    static func helper() -> CaptureHelper {
      CaptureHelper(executable: builtProduct("TestCaptureHelper"), arguments: [])
    }

    func analyst(
      _ executable: String = builtProduct("stallwatch"),
      _ arguments: [String] = [AnalystServer.hiddenArgument], patience: Duration = Analyst.usualPatience
    )
      -> Analyst
    {
      Analyst(
        process: process, maxFrames: 64, depth: .names, patience: patience, executable: executable,
        arguments: arguments, fileHelper: Captured.helper())
    }
  }

  private static var inTenSeconds: Int64 { Clock.monotonicNanoseconds + 10_000_000_000 }

  @Test func walksAndNames() throws {
    let target = try TargetProcess.start("pattern")
    let captured = try Captured(target)
    let analyst = captured.analyst()
    let finding = analyst.finding(
      of: analyst.ask(captured.capture, maps: captured.maps), until: Self.inTenSeconds)
    #expect(finding.isFinal && finding.missing == nil)
    let analysis = try #require(finding.analysis)
    #expect(analysis.end == .root)
    #expect(analysis.frames.contains { $0.symbol == "main" })
    #expect(analysis.frames.last?.symbol == "_start")
  }

  @Test func equalSamplesOfASeriesAreToldOnce() throws {
    let target = try TargetProcess.start("pattern")
    let captured = try Captured(target)
    let analyst = captured.analyst()
    let questions = [7, 7, 8, 0].map {
      analyst.ask(captured.capture, maps: captured.maps, series: $0)
    }
    let found = questions.map { analyst.finding(of: $0, until: Self.inTenSeconds).analysis }
    #expect(found.map { $0?.sameAs } == [nil, questions[0], nil, nil])
    #expect(found.map { $0?.frames.isEmpty } == [false, true, false, false])
    #expect(found[0]?.frames == found[3]?.frames && found[1]?.end == .root)
  }

  @Test func hasNoRightsLeft() throws {
    let target = try TargetProcess.start("pattern")
    let captured = try Captured(target)
    let analyst = captured.analyst()
    _ = analyst.finding(of: analyst.ask(captured.capture, maps: captured.maps), until: Self.inTenSeconds)
    let id = try #require(analyst.processID)
    let lines = String(decoding: try readPseudoFile("/proc/\(id)/status"), as: UTF8.self).split(
      separator: "\n")
    for expected in [
      "CapEff:\t0000000000000000", "CapPrm:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2",
    ] {
      #expect(lines.contains { $0 == expected }, "\(expected)")
    }
    #expect(try readPseudoFile("/proc/\(id)/limits").count > 0)
  }

  /// Killed before it can answer: the next one is asked the same.
  @Test func answerComesFromTheNextOneAfterAKill() throws {
    let target = try TargetProcess.start("pattern")
    let captured = try Captured(target)
    let analyst = captured.analyst()
    analyst.prepare()
    for _ in 0..<10 {
      let id = try #require(analyst.processID)
      // It cannot answer while it is stopped, so that the kill finds the question open.
      #expect(kill(id, SIGSTOP) == 0)
      let question = analyst.ask(captured.capture, maps: captured.maps)
      #expect(kill(id, SIGKILL) == 0)
      let finding = analyst.finding(of: question, until: Self.inTenSeconds)
      #expect(finding.isFinal && finding.missing == nil)
      #expect(finding.analysis?.frames.contains { $0.symbol == "main" } == true)
      #expect(analyst.processID != nil && analyst.processID != id)
    }
  }

  /// One that dies over every question: the last word says so, and comes soon.
  @Test func endlessDeathIsGivenUp() throws {
    let target = try TargetProcess.start("pattern")
    let captured = try Captured(target)
    let analyst = captured.analyst("/bin/false", [])
    let finding = analyst.finding(
      of: analyst.ask(captured.capture, maps: captured.maps), until: Self.inTenSeconds)
    #expect(finding.isFinal && finding.analysis == nil)
    #expect(finding.missing?.contains("ended") == true)
    let programCounter = captured.capture.registers.programCounter
    #expect(analyst.region(at: programCounter, in: captured.maps)?.isExecutable == true)
  }

  @Test func oneThatCannotBeStartedIsGivenUp() throws {
    let target = try TargetProcess.start("pattern")
    let captured = try Captured(target)
    let analyst = captured.analyst("/nowhere/at-all", [])
    let finding = analyst.finding(
      of: analyst.ask(captured.capture, maps: captured.maps), until: Self.inTenSeconds)
    #expect(finding.isFinal && finding.missing?.contains("cannot be started") == true)
  }

  /// Nobody waits longer than told for one that is stuck, and its answer is taken when it comes.
  @Test func lateAnswerIsTakenLater() throws {
    let target = try TargetProcess.start("pattern")
    let captured = try Captured(target)
    let analyst = captured.analyst()
    analyst.prepare()
    let id = try #require(analyst.processID)
    #expect(kill(id, SIGSTOP) == 0)
    let question = analyst.ask(captured.capture, maps: captured.maps)
    let early = analyst.finding(of: question, until: Clock.monotonicNanoseconds)
    #expect(!early.isFinal && early.analysis == nil)
    #expect(kill(id, SIGCONT) == 0)
    let late = analyst.finding(of: question, until: Self.inTenSeconds)
    #expect(late.isFinal && late.analysis?.end == .root)
    #expect(analyst.processID == id)
  }

  /// Also when each question is given up before its time is over. The next one is asked for less for a while.
  @Test func oneThatIsStoppedForGoodIsReplaced() throws {
    let target = try TargetProcess.start("pattern")
    let captured = try Captured(target)
    let analyst = captured.analyst(patience: .milliseconds(300))
    analyst.prepare()
    let id = try #require(analyst.processID)
    #expect(kill(id, SIGSTOP) == 0)
    for _ in 0..<6 where analyst.processID == id {
      let question = analyst.ask(captured.capture, maps: captured.maps)
      let early = analyst.finding(of: question, until: Clock.monotonicNanoseconds + 100_000_000)
      if !early.isFinal { analyst.forget(question) }
    }
    #expect(analyst.processID != id)
    let finding = analyst.finding(
      of: analyst.ask(captured.capture, maps: captured.maps), until: Self.inTenSeconds)
    #expect(finding.isFinal && finding.missing?.contains("took too long") == true)
    #expect(finding.analysis?.end == .root)
  }

  /// An analyst in strange hands that asks for one file after the other and answers nothing.
  @Test(arguments: [true, false]) func endlessAskingKeepsNobody(takesFiles: Bool) throws {
    let target = try TargetProcess.start("pattern")
    let captured = try Captured(target)
    let script = """
      import socket, sys
      sys.excepthook = lambda *failure: None
      watch = socket.socket(fileno=3)
      while True:
          watch.send(bytes([4, 0, 0, 0, 0, 0, 0, 0]))
          if \(takesFiles ? "True" : "False"): watch.recv(4096)
      """
    let analyst = captured.analyst(
      "/usr/bin/python3", ["-I", "-c", script], patience: .milliseconds(400))
    let question = analyst.ask(captured.capture, maps: captured.maps)
    let early = analyst.finding(of: question, until: Clock.monotonicNanoseconds)
    #expect(early.analysis == nil)
    let finding = analyst.finding(of: question, until: Self.inTenSeconds)
    #expect(finding.isFinal && finding.analysis == nil && finding.missing != nil)
    analyst.proceed()
  }

  /// What killed it over one question is not asked for again at once.
  @Test func lastingTroubleCostsLittle() throws {
    let target = try TargetProcess.start("pattern")
    let captured = try Captured(target)
    let directory = try TemporaryDirectory()
    let starts = directory.path + "/starts"
    let analyst = captured.analyst("/bin/sh", ["-c", "echo >>\(starts); sleep 0.2"])
    for total in [3, 5] {
      let question = analyst.ask(captured.capture, maps: captured.maps)
      let finding = analyst.finding(of: question, until: Self.inTenSeconds)
      #expect(finding.isFinal && finding.missing?.contains("the stack ended") == true)
      #expect(try FileDescriptor.open(starts).readAll(limit: 64).count == total)
    }
  }

  @Test func onlyWhatIsMappedIsOpened() throws {
    let target = try TargetProcess.start("pattern")
    let captured = try Captured(target)
    var broker = FileBroker(process: captured.process, helper: Captured.helper())
    let programCounter = captured.capture.registers.programCounter
    let region = broker.region(at: programCounter, in: captured.maps)
    let sound = try #require(region)
    let file = broker.file(mappedAt: sound, of: captured.maps)
    #expect(file != nil)
    guard let hostname = RegularFile(path: Array("/etc/debian_version".utf8)) else { throw Errno.noSuchFile }
    let other = hostname.identity
    var forged = sound
    (forged.path, forged.identity) = (Array("/etc/debian_version".utf8), other)
    let refused = broker.file(mappedAt: forged, of: captured.maps)
    #expect(refused == nil)
  }

  /// NS-07: a mounted image that only its user may read.
  @Test("NS-07: a module that cannot be opened is taken from memory") func copyOfModuleHasNamesAndRules()
    throws
  {
    let target = try TargetProcess.start("pattern")
    let captured = try Captured(target)
    let map = try MemoryMap(processID: captured.process)
    let library = try #require(map.regions.first { $0.path.suffix(9).elementsEqual("libc.so.6".utf8) })
    var helper = Captured.helper()
    let copied = try helper.copyModule(
      map.regions.filter { $0.identity == library.identity }, of: captured.process)
    let copy = try #require(copied)
    let original = try #require(TargetFiles(processID: captured.process).image(for: library))
    let pages = FilePages(file: try FileDescriptor.duplicate(copy.rawDescriptor))
    let image = try ElfImage(pages: pages, identity: library.identity)
    #expect(image.buildID != nil && image.buildID == original.buildID)
    #expect(image.unwindTable != nil)
    let index = try SymbolIndex(descriptor: copy.rawDescriptor)
    let whole = try SymbolIndex(descriptor: try #require(original.rawDescriptor))
    let code = try #require(image.segments.first { $0.isExecutable })
    let addresses = stride(from: code.virtualAddress, to: code.virtualAddress + code.fileSize, by: 16)
    let named = addresses.filter { index.match($0) != nil }
    #expect(named.count > 1000)
    #expect(named.allSatisfy { index.match($0)?.start == whole.match($0)?.start })
  }

  @Test func onlyDebugInformationIsOpenedByPath() throws {
    let target = try TargetProcess.start("pattern")
    let captured = try Captured(target)
    var broker = FileBroker(process: captured.process, helper: Captured.helper())
    for path in [
      "/etc/debian_version", "/dev/null", "/proc/self/mem", "bin/sh", "/bin/../etc/passwd", "/bin/sh\0x", "",
    ] {
      let file = broker.debugFile(Array(path.utf8))
      #expect(file == nil, "\(path)")
    }
    let sound = broker.debugFile(Array("/proc/../bin/sh".utf8))
    #expect(sound != nil)
  }
}
