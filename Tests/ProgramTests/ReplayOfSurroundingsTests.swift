// What a watch knows beside its looks is in its recording, too: a replay tells the same of it, each time.

import FoundationEssentials
import Glibc
import Linux
import TestSupport
import Testing

@Suite(.serialized) struct ReplayOfSurroundingsTests {
  @Test("TIME-05: a quota that was used up is told again") func surroundingsAreToldAgain() throws {
    guard let group = QuotaGroup() else { return print("skipped: no group with a quota can be made") }
    let target = try TargetProcess.start("stalling-loop", "epoll", "compute")
    try group.add(target.processID)
    let both = try WatchAndReplay(["--pid", "\(target.processID)"]) { watch in
      _ = try watch.next("notice", kind: "loop.found")
      target.signal(SIGUSR1)
      _ = try watch.next("stall", state: "ended")
    }
    let ended = try #require(both.replayed.last { $0["type"] == .string("stall") })
    #expect(try #require(ended["surroundings"]?.object.number("throttled_ms")) > 0)
    #expect(ended["cause"]?.object["kind"] == .string("cpu.throttled"))
    both.expectSame()
    target.signal(SIGKILL)
  }

  @Test("SW-04: whoever works for the main queue is named again") func workersAreNamedAgain() throws {
    let target = try TargetProcess.start("main-queue")
    let both = try WatchAndReplay(
      ["--pid", "\(target.processID)"], options: ["--threshold", "100ms", "--cooldown", "0"]
    ) { watch in
      _ = try watch.next("notice", kind: "thread.followed")
      for _ in 0..<2 {
        target.signal(SIGUSR1)
        _ = try watch.next("stall", state: "ended")
      }
    }
    let ended = both.replayed.filter { $0["type"] == .string("stall") && $0["state"] == .string("ended") }
    #expect(Set(ended.compactMap { $0["thread"]?.object.number("tid") }).count == 2)
    both.expectSame()
  }

  @Test("what a probe was answered is told again") func probesAreToldAgain() throws {
    var target = try TargetProcess.start("answering-loop", "http")
    let port = try target.readLine()
    let both = try WatchAndReplay(
      ["--pid", "\(target.processID)", "--probe", "http://localhost:\(port)"],
      options: ["--threshold", "200ms"]
    ) { watch in
      _ = try watch.next("notice", kind: "loop.found")
      target.signal(SIGUSR1)
      _ = try watch.next("stall", state: "ended")
    }
    let ended = try #require(both.replayed.last { $0["type"] == .string("stall") })
    #expect(ended["probe"] != nil)
    #expect(both.replayed.last?["probe"]?.object.number("answers") ?? 0 > 0)
    both.expectSame()
  }

  @Test("how long pings took is told again") func pingsAreToldAgain() throws {
    let directory = try TemporaryDirectory()
    guard let target = try LibraryLoop.start("glib-2.0", milliseconds: 900, in: directory) else { return }
    let both = try WatchAndReplay(["--pid", "\(target.processID)", "--no-breakpoint", "--ping"]) { watch in
      _ = try watch.next("notice", kind: "loop.found")
      target.signal(SIGUSR2)
      _ = try watch.next("stall", state: "ended")
    }
    let ended = try #require(both.replayed.last { $0["type"] == .string("stall") })
    #expect(ended["proof"] == .string("ping"))
    #expect(both.replayed.last?["ping_responses"]?.object.number("longest_ms") ?? 0 >= 500)
    both.expectSame()
  }

  @Test("an end that takes too long is told again, to the moment") func slowEndIsToldAgain() throws {
    let both = try WatchAndReplay(
      run: [builtProduct("TestTarget"), "slow-reaction", "900"], options: ["--phase", "quit=300ms"]
    ) { watch in
      _ = try watch.next("notice", kind: "loop.found")
      watch.signal(SIGTERM)
    }
    let ended = try #require(both.replayed.last { $0["type"] == .string("stall") })
    #expect(ended["phase"] == .string("quit") && ended["state"] == .string("ended"))
    both.expectSame()
  }
}

/// A watch as it told, and what a replay of its recording tells.
private struct WatchAndReplay {
  let live: [[String: JSONValue]]
  let replayed: [[String: JSONValue]]

  /// `options` are those that a replay takes as well. After `act` the watch is asked to end.
  init(
    _ subject: [String] = [], run command: [String] = [], options: [String] = [],
    act: (inout WatchRun) throws -> Void
  ) throws {
    let folder = try TemporaryDirectory()
    let file = "\(folder.path)/recording"
    let own = ["--json", "--record", file] + options
    var watch = try WatchRun(
      command.isEmpty ? own + subject : ["run", "-o", "/dev/stdout"] + own + ["--"] + command)
    try act(&watch)
    if command.isEmpty { watch.signal(SIGINT) }
    _ = try watch.next("summary")
    _ = try watch.end()
    live = watch.records
    let words = (["stallwatch replay", file, "--json"] + options).joined(separator: " ")
    let text = try shell(words).output
    #expect(try shell(words).output == text, "another time it tells something else")
    replayed = try text.split(separator: "\n").map {
      try JSONDecoder().decode(JSONValue.self, from: Data($0.utf8)).object
    }
  }

  /// All that was judged, to the last digit. Of a stall that goes on, names may have come too late then. A remark that came
  /// from a stack may stand on the other side of the record of that look.
  func expectSame() {
    func isNotice(_ record: [String: JSONValue]) -> Bool { record["type"] == .string("notice") }
    #expect(
      replayed.filter { isNotice($0) && $0["kind"] != .string("recording.gaps") }.map { $0["text"] }
        == live.filter(isNotice).map { $0["text"] })
    let (live, replayed) = (live.filter { !isNotice($0) }, replayed.filter { !isNotice($0) })
    #expect(replayed.map { $0["type"] } == live.map { $0["type"] })
    let judged = [
      "id", "state", "interruption", "thread", "phase", "threshold_ms", "duration_ms", "duration_min_ms",
      "duration_max_ms", "verified", "proof", "class", "breakdown_ms", "surroundings", "probe",
    ]
    let counted = [
      "stalls", "unverified", "suppressed_stalls", "saturations", "total_saturated_ms", "total_stalled_ms",
      "longest_ms", "slow_phases", "near_misses_ms", "suggested_threshold", "parked_percent",
      "ping_responses", "probe",
    ]
    for (one, other) in zip(live, replayed) {
      let keys: [String] =
        switch one["type"]?.string {
        case "stall", "unverified":
          judged + (one["state"] == .string("ongoing") ? [] : ["cause", "fingerprint", "repeat"])
        case "summary": counted
        default: []
        }
      for key in keys { #expect(one[key] == other[key], "\(key)") }
      if keys.contains("fingerprint") { #expect(one.symbols == other.symbols) }
    }
  }
}
