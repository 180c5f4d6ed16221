// What is told of a program of tens of thousands of Swift functions with their lines: the watcher itself.

import Linux
import TestSupport
import Testing

@Suite struct SwiftProgramTests {
  /// Of the thread that looks, from the innermost call on: names, and how many of them have lines.
  private func names(_ symbols: String, of process: Int32) throws -> (names: [String], lines: Int) {
    var dump = try WatchRun([
      "dump", "--json", "--thread", "\(process)", "--symbols", symbols, "--pid", "\(process)",
    ])
    let record = try dump.next("dump")
    #expect(try dump.end() == .exited(0))
    let frames = record["stacks"]?.array.first?.object["frames"]?.array ?? []
    return (
      frames.compactMap { $0.object["symbol"]?.string }, frames.count { $0.object["line"] != nil }
    )
  }

  @Test("SW-01: names of Swift functions do not wait for lines, and lines take nothing from the names")
  func namesComeFirst() throws {
    let target = try TargetProcess.start("parked-crowd", "1")
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)"])
    _ = try watch.next("attach")
    let fast = try names("fast", of: watch.processID)
    let full = try names("full", of: watch.processID)
    let none = try names("none", of: watch.processID)
    #expect(fast.names.contains { $0.hasPrefix("stallwatch.") || $0.hasPrefix("static stallwatch.") })
    #expect(fast.lines == 0)
    #expect(full.lines > 0)
    // Inlined calls come with the lines.
    #expect(Set(fast.names).isSubset(of: full.names), "\(fast.names) \(full.names)")
    #expect(none.names.isEmpty)
  }
}
