// Loops that poll without waiting, and loops that only look like it.

import Linux
import TestSupport
import Testing

@Suite(.serialized) struct PollingTests {
  private func start(_ arguments: [String]) throws -> TargetProcess {
    var target = try TargetProcess(
      path: builtProduct("TestTarget"), arguments: ["polling-loop"] + arguments)
    #expect(try target.readLine() == "ready")
    return target
  }

  /// What is said of the loop in four seconds.
  private func watch(_ arguments: String...) throws -> (busy: [[String: JSONValue]], stalls: Int?) {
    let target = try start(arguments)
    var watch = try WatchRun([
      "--json", "--pid", "\(target.processID)", "--threshold", "200ms", "--cpu-window", "500ms",
      "--cpu-threshold", "35", "--duration", "4s",
    ])
    let summary = try watch.next("summary")
    return (watch.records(of: "cpu"), summary.number("stalls").map { Int($0) })
  }

  /// The one moment that is captured can be between two polls.
  @Test("IDLE-03: a busy loop of polls with timeout 0 is told as spinning, and is no stall")
  func pollsWithoutTimeout() throws {
    var isTold = false
    for _ in 0..<5 where !isTold {
      let (busy, stalls) = try watch("0")
      #expect(stalls == 0)
      let cause = busy.first?["cause"]?.object
      isTold = cause?["kind"]?.string == "cpu.polling"
      guard isTold else { continue }
      #expect(cause?["summary"]?.string?.hasPrefix("spinning: epoll_wait ") == true)
      let evidence = cause?["evidence"]?.array.compactMap(\.string) ?? []
      #expect(evidence.contains { $0.hasSuffix(" times a second") })
    }
    #expect(isTold)
  }

  @Test(
    "IDLE-03: short timeouts and frame loops are neither busy nor stalled",
    arguments: [["1"], ["16"], ["12", "4"]])
  func shortTimeouts(_ arguments: [String]) throws {
    let target = try start(arguments)
    var watch = try WatchRun([
      "--json", "--pid", "\(target.processID)", "--threshold", "200ms", "--cpu-window", "500ms",
      "--duration", "4s",
    ])
    let summary = try watch.next("summary")
    #expect(summary["stalls"] == .number(0))
    #expect(watch.records(of: "cpu").isEmpty)
  }

  @Test("IDLE-03: a busy thread that computes is not told as polling")
  func computingIsNoPolling() throws {
    let target = try TargetProcess.start("spin")
    var watch = try WatchRun([
      "--json", "--pid", "\(target.processID)", "--cpu-window", "500ms", "--cpu-threshold", "35",
    ])
    let busy = try watch.next("cpu")
    #expect(busy["cause"] == nil)
  }
}
