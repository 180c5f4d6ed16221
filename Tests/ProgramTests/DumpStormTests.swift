// Dumps of programs whose threads begin, end, execute programs and die meanwhile: no error, no leak, no wrong stack.

import Glibc
import Linux
import TestSupport
import Testing

@Suite(.serialized) struct DumpStormTests {
  /// `scripts/dump-storm` asks for more.
  private static let rounds: Int = {
    guard let text = unsafe getenv("STALLWATCH_DUMP_ROUNDS") else { return 10 }
    return unsafe Int(String(cString: text)) ?? 10
  }()

  /// Who calls whom in `changing-crowd`. A walk may end early, but goes nowhere else.
  private static let callers = [
    "left_inner": "left_middle", "left_middle": "left_outer", "left_outer": "change",
    "right_inner": "right_middle", "right_middle": "right_outer", "right_outer": "change",
  ]

  private static func isPossible(_ symbols: [String]) -> Bool {
    zip(symbols, symbols.dropFirst()).allSatisfy { callee, caller in
      callers[callee].map { $0 == caller } ?? true
    }
  }

  private static func check(_ records: [[String: JSONValue]]) -> Int {
    let dumped = records.filter { $0["type"]?.string == "dump" }
    for record in dumped { #expect(isPossible(record.symbols), "\(record.symbols)") }
    let missing = dumped.compactMap { $0["stacks"]?.array.first?.object["missing"]?.string }
    #expect(missing.allSatisfy { !$0.contains("has ended") }, "\(missing)")
    return dumped.count { $0.symbols.contains("change") }
  }

  @Test(
    "PT-09, PT-10: threads that come and go get right stacks or none, whatever they do meanwhile",
    arguments: ["changing-crowd", "changing-crowd replaced"], ["--never-stop", "--max-frames=256"])
  func dumpsOfThreadsThatChange(_ program: String, _ option: String) throws {
    let words = program.split(separator: " ").map(String.init)
    let target = try TargetProcess.start(words[0], words.count > 1 ? words[1] : "")
    var whole = 0
    for _ in 0..<Self.rounds {
      var dump = try WatchRun(["dump", "--json", option, "--pid", "\(target.processID)"])
      try dump.readToEnd()
      whole += Self.check(dump.records)
      #expect(dump.records(of: "dump_summary").count == 1)
      let end = try dump.end()
      #expect(end == .exited(0) || end == .exited(5), "\(end)")
    }
    // One that executes a program every few milliseconds is seldom caught with its mappings, and threads that live for
    // milliseconds are seldom caught without a stop.
    #expect(whole > 0 || words.count > 1 || option == "--never-stop")
  }

  @Test("PT-11: a target that dies during its dump is no error")
  func dumpsOfTargetsThatDie() throws {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<Self.rounds {
      let target = try TargetProcess.start("changing-crowd")
      var dump = try WatchRun(["dump", "--json", "--pid", "\(target.processID)"])
      usleep(UInt32.random(in: 0..<40_000, using: &generator))
      target.signal(SIGKILL)
      try dump.readToEnd()
      _ = Self.check(dump.records)
      // 3: it was gone before there was anything to tell.
      let end = try dump.end()
      #expect([0, 3, 5].contains { end == .exited($0) }, "\(end)")
    }
  }

  @Test("SCALE-06: a watch that dumps threads which come and go keeps nothing of them")
  func dumpsOfOneWatch() throws {
    let target = try TargetProcess.start("changing-crowd")
    var watch = try WatchRun(["--json", "--cpu-threshold", "0", "--pid", "\(target.processID)"])
    _ = try watch.next("attach")
    func dump(_ times: Int) throws {
      for _ in 0..<times {
        watch.signal(SIGUSR1)
        _ = try watch.next("dump_summary")
      }
    }
    try dump(Self.rounds)
    // What is read once (the functions of the kernel, when one of them is to be named) comes whenever it is needed first: it
    // is grown by once. What is kept of each dump, always.
    var growth: [Resources] = []
    repeat {
      let before = try Resources(of: watch.processID)
      try dump(Self.rounds * 4)
      growth.append(try Resources(of: watch.processID) - before)
    } while growth.count < 3 && !growth[growth.count - 1].isSmall
    #expect(growth.contains { $0.isSmall }, "\(growth)")
    #expect(Self.check(watch.records) > 0)
    watch.signal(SIGTERM)
    #expect(try watch.end() == .exited(0))
  }
}

/// What a process holds. The allocator keeps some of what it once had.
private struct Resources {
  let descriptors: Int
  let kilobytes: Int

  var isSmall: Bool { descriptors <= 10 && kilobytes <= 4096 }

  static func - (after: Self, before: Self) -> Self {
    Resources(
      descriptors: after.descriptors - before.descriptors, kilobytes: after.kilobytes - before.kilobytes)
  }

  private init(descriptors: Int, kilobytes: Int) {
    (self.descriptors, self.kilobytes) = (descriptors, kilobytes)
  }

  init(of process: Int32) throws {
    let (output, _) = try shell(
      "ls /proc/\(process)/fd | wc -l; sed -n 's/^RssAnon:[^0-9]*\\([0-9]*\\).*/\\1/p' /proc/\(process)/status"
    )
    let numbers = output.split(separator: "\n").compactMap { Int($0) }
    descriptors = try #require(numbers.first)
    kilobytes = try #require(numbers.dropFirst().first)
  }
}
