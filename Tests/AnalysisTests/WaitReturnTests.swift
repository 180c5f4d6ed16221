// Where a wait returns to, of real threads that were not stopped: address and stack pointer are those that gdb finds.

import Glibc
import Linux
import Stacks
import StallCore
import TestSupport
import Testing

@testable import Analysis

@Suite struct WaitReturnTests {
  /// With a second thread glibc makes cancellable calls by another instruction, in another frame.
  @Test(arguments: [
    ("epoll", "wait_in_epoll"), ("threaded-epoll", "wait_in_epoll"), ("poll", "wait_in_poll"),
    ("accept", "wait_in_accept"), ("coroutine", "wait_in_epoll"), ("signal-stack", "wait_in_epoll"),
  ])
  func returnsWhereTheDebuggerSaysSo(_ kind: String, _ function: String) throws {
    guard unsafe access("/usr/bin/gdb", X_OK) == 0 else { return print("skipped: no gdb") }
    let target = try TargetProcess.start("idle", kind)
    let id = target.processID
    _ = try eventually { () throws(Errno) in try threadStates(of: id)[id] == "S" }
    let place = try #require(try returnPlace(id))

    var debugger = try TargetProcess(
      path: "/usr/bin/gdb",
      arguments: [
        "-p", "\(id)", "-batch", "-nx", "-iex", "set debuginfod enabled off", "-ex", "thread 1", "-ex",
        "frame function \(function)", "-ex", "printf \"place %lu %lu\\n\", $pc, $sp",
      ])
    var line = ""
    while !line.hasPrefix("place ") { line = try debugger.readLine() }
    let words = line.split(separator: " ").dropFirst().compactMap { UInt64($0) }
    #expect([place.programCounter, place.stackPointer] == words)
    _ = try debugger.waitForExit()
  }

  private func returnPlace(_ id: Int32) throws -> WaitReturn? {
    var helper = CaptureHelper(executable: builtProduct("TestCaptureHelper"), arguments: [])
    let rules = CaptureRules(isParked: true, mayStop: false)
    let capture = try helper.capture(processID: id, threadID: id, rules: rules, deadline: .seconds(5))
    #expect(capture.way == .syscallFile)
    let maps = try helper.readMaps(processID: id, threadID: id, deadline: .seconds(5))
    let analyst = Analyst(
      process: id, maxFrames: 64, depth: .lines, executable: builtProduct("stallwatch"),
      arguments: [AnalystServer.hiddenArgument],
      fileHelper: CaptureHelper(executable: builtProduct("TestCaptureHelper"), arguments: []))
    let end = Clock.monotonicNanoseconds + 10_000_000_000
    let finding = analyst.finding(of: analyst.ask(capture, maps: maps, most: .names), until: end)
    return LoopRules.builtIn.reading(of: try #require(finding.analysis).frames).returnsTo
  }
}
