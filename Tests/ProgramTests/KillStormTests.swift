// The watcher and its children are killed at random moments, and a program of fifty threads must not notice.

import Glibc
import Linux
import TestSupport
import Testing

@Suite(.serialized) struct KillStormTests {
  /// `scripts/kill-storm` asks for more.
  private static let rounds: Int = {
    guard let text = unsafe getenv("STALLWATCH_KILL_ROUNDS") else { return 10 }
    return unsafe Int(String(cString: text)) ?? 10
  }()

  @Test("PT-02, PT-11: kill -9 of watcher, helper and analyst leaves every thread running and unharmed")
  func killedAtAnyMoment() throws {
    let crowd = try Crowd()
    let storm = try Storm(crowd.processID)
    var generator = SystemRandomNumberGenerator()
    for round in 0..<Self.rounds {
      try storm.startWatchIfNeeded()
      // A dump goes through all threads, and the stalls of the main loop are captured beside it.
      storm.dump()
      usleep(UInt32.random(in: 0..<120_000, using: &generator))
      storm.kill(watcher: round % 2 == 0, &generator)
      #expect(try crowd.isUnharmed(), "round \(round)")
      #expect(try storm.hasEndedAsItShould(), "round \(round)")
    }
    #expect(storm.killedWatchers > 0 && storm.killedChildren > 0)
    let told = "\(storm.killedWatchers) watchers and \(storm.killedChildren) children killed"
    print("\(told); the watchers had told of \(storm.stacks) stacks")
  }
}

/// The target: its main loop and fifty threads that count their waits.
private final class Crowd {
  private static let threads = 50
  private let target: TargetProcess
  private let counters: UInt64

  init() throws {
    var target = try TargetProcess.start("crowd", "\(Self.threads)")
    counters = try #require(UInt64(try target.readLine()))
    self.target = target
  }

  var processID: Int32 { target.processID }

  /// No thread is held or stopped, each goes on, and none of their waits has failed.
  func isUnharmed() throws -> Bool {
    let free = try eventually { () throws(Errno) in
      let threads = try ThreadList.threads(of: processID)
      return threads.count == Self.threads + 1 && threads.allSatisfy(isFree)
    }
    let before = try passes()
    let goesOn = try eventually { () throws(Errno) in zip(before, try passes()).allSatisfy { $0 < $1 } }
    return try free && goesOn && readWord(of: processID, at: counters) == 0
  }

  private func isFree(_ thread: Int32) -> Bool {
    guard let status = try? ProcessStatus(path: "/proc/\(processID)/task/\(thread)/status"),
      let text = try? readPseudoFile("/proc/\(processID)/task/\(thread)/stat"),
      let stat = ThreadStat(text.span)
    else { return false }
    return status.tracer == 0 && stat.state != UInt8(ascii: "t") && stat.state != UInt8(ascii: "T")
  }

  private func passes() throws(Errno) -> [UInt64] {
    var passes: [UInt64] = []
    for thread in 1...Self.threads {
      passes.append(try readWord(of: processID, at: counters + 8 * UInt64(thread)))
    }
    return passes
  }
}

/// The watch that is killed and started again.
private final class Storm {
  private let target: Int32
  private let output = "/tmp/stallwatch-test-\(getpid())-storm.jsonl"
  private var watch: WatchRun
  private var isWatcherKilled = false
  private(set) var killedWatchers = 0
  private(set) var killedChildren = 0
  private(set) var stacks = 0

  init(_ target: Int32) throws {
    self.target = target
    watch = try Self.startWatch(of: target, output)
  }

  deinit { unsafe unlink(output) }

  /// Waits until it has told that it watches, which it does after it has taken over its signals.
  private static func startWatch(of target: Int32, _ output: String) throws -> WatchRun {
    unsafe unlink(output)
    let watch = try WatchRun([
      "--json", "-o", output, "--pid", "\(target)", "--threshold", "10ms", "--cooldown", "0",
    ])
    #expect(eventually { occurrences(of: "\"attach\"", in: output) > 0 })
    return watch
  }

  func startWatchIfNeeded() throws {
    guard isWatcherKilled else { return }
    watch = try Self.startWatch(of: target, output)
    isWatcherKilled = false
  }

  func dump() { watch.signal(SIGUSR1) }

  /// The watcher itself, or any one of its children.
  func kill(watcher: Bool, _ generator: inout SystemRandomNumberGenerator) {
    if watcher {
      stacks += Self.occurrences(of: "\"captured\"", in: output)
      watch.signal(SIGKILL)
      isWatcherKilled = true
      killedWatchers += 1
    } else if let child = children().randomElement(using: &generator) {
      _ = Glibc.kill(child, SIGKILL)
      killedChildren += 1
    }
  }

  /// The watch goes on unless it was killed itself.
  func hasEndedAsItShould() throws -> Bool {
    try isWatcherKilled ? watch.end() == .signaled(SIGKILL) : watch.isAlive()
  }

  private static func occurrences(of text: String, in file: String) -> Int {
    let bytes = (try? FileDescriptor.open(file).readAll(limit: 16 << 20)) ?? []
    return String(decoding: bytes, as: UTF8.self).ranges(of: text).count
  }

  private func children() -> [Int32] {
    let process = watch.processID
    var children: [Int32] = []
    for thread in (try? ThreadList.threads(of: process)) ?? [] {
      let text = (try? readPseudoFile("/proc/\(process)/task/\(thread)/children")) ?? []
      children += String(decoding: text, as: UTF8.self).split(separator: " ").compactMap { Int32($0) }
    }
    return children
  }
}
