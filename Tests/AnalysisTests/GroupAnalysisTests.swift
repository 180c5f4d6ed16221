// Many threads that are asked about together.

import Glibc
import Linux
import Stacks
import StallCore
import TestSupport
import Testing

@testable import Analysis

@Suite struct GroupAnalysisTests {
  private static var inTenSeconds: Int64 { Clock.monotonicNanoseconds + 10_000_000_000 }

  private static func helper() -> CaptureHelper {
    CaptureHelper(executable: builtProduct("TestCaptureHelper"), arguments: [])
  }

  private static func analyst(of process: Int32) -> Analyst {
    Analyst(
      process: process, maxFrames: 64, depth: .names, executable: builtProduct("stallwatch"),
      arguments: [AnalystServer.hiddenArgument], fileHelper: helper())
  }

  /// Equal stacks get one answer, different ones theirs; killed meanwhile, each is asked about alone.
  @Test(arguments: [false, true]) func manyAreAskedAboutTogether(isKilled: Bool) throws {
    let target = try TargetProcess.start("parked-crowd", "20")
    let process = target.processID
    let (captures, maps) = try Self.copies(ofParked: process)
    let analyst = Self.analyst(of: process)
    analyst.prepare()
    let id = try #require(analyst.processID)
    if isKilled { #expect(kill(id, SIGSTOP) == 0) }
    let questions = analyst.ask(together: captures, maps: maps)
    if isKilled { #expect(kill(id, SIGKILL) == 0) }
    let findings = questions.map { analyst.finding(of: $0, until: Self.inTenSeconds) }
    #expect(findings.allSatisfy { $0.isFinal && $0.missing == nil && $0.analysis != nil })
    for (capture, finding) in zip(captures, findings) {
      let symbols = finding.analysis?.frames.compactMap(\.symbol) ?? []
      #expect(symbols.contains("pause") == (capture.threadID != process), "\(symbols)")
    }
  }

  /// All of its threads sleep but for the first, which runs now and then.
  private static func copies(ofParked process: Int32) throws -> ([RawCapture], SealedBytes) {
    let threads = try ThreadList.threads(of: process)
    // 34 is `pause`.
    let areAsleep = eventually {
      threads.dropFirst().allSatisfy {
        (try? readPseudoFile("/proc/\($0)/syscall"))?.starts(with: "34 ".utf8) == true
      }
    }
    #expect(areAsleep)
    var helper = Self.helper()
    let group = try helper.capture(
      processID: process, together: threads.map { GroupMember(threadID: $0) },
      rules: CaptureRules(mayStop: false, isDump: true), deadline: .seconds(5))
    let captures = group.results.compactMap { try? $0.get() }
    #expect(captures.count >= threads.count - 1)
    return (captures, try helper.readMaps(processID: process, threadID: process, deadline: .seconds(5)))
  }

  @Test("what has not moved is not asked about again, unless mappings have changed")
  func stillThreadsAreKnown() throws {
    let target = try TargetProcess.start("parked-crowd", "5")
    let process = target.processID
    let analyst = Self.analyst(of: process)
    let (first, maps) = try Self.copies(ofParked: process)
    let asked = first.filter { $0.threadID != process }
    let answers = analyst.ask(together: asked, maps: maps).map {
      analyst.finding(of: $0, until: Self.inTenSeconds).analysis?.frames
    }
    #expect(answers.allSatisfy { $0?.contains { $0.symbol == "pause" } == true })

    // It could not answer.
    let id = try #require(analyst.processID)
    #expect(kill(id, SIGSTOP) == 0)
    let (second, newMaps) = try Self.copies(ofParked: process)
    let again = second.filter { $0.threadID != process }
    let known = analyst.ask(together: again, maps: maps).map {
      analyst.finding(of: $0, until: Clock.monotonicNanoseconds)
    }
    #expect(
      known.allSatisfy { $0.isFinal && $0.missing == nil } && known.map { $0.analysis?.frames } == answers)
    let unknown = analyst.ask(together: again, maps: newMaps).map {
      analyst.finding(of: $0, until: Clock.monotonicNanoseconds).isFinal
    }
    #expect(!unknown.contains(true))
    #expect(kill(id, SIGCONT) == 0)
  }
}
