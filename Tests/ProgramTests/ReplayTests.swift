// Recording and replaying, end to end: the same stalls, the same bytes, and clear words for what is no recording.

import FoundationEssentials
import Glibc
import Linux
import TestSupport
import Testing

@Suite(.serialized) struct ReplayTests {
  /// A loop that stalled once, as it was told then, and the recording of it.
  private func record(_ path: String, _ arguments: [String] = []) throws -> [[String: JSONValue]] {
    var target = try TargetProcess.start("stalling-loop", "epoll", "sleep")
    var watch = try WatchRun(
      ["--json", "--pid", "\(target.processID)", "-t", "200ms", "--record", path] + arguments)
    _ = try watch.next("notice", kind: "loop.found")
    target.signal(SIGUSR1)
    _ = try target.readLine()
    _ = try watch.next("stall", state: "ended")
    watch.signal(SIGINT)
    _ = try watch.next("summary")
    #expect(try watch.end() == .exited(0))
    return watch.records
  }

  private func records(_ text: String) throws -> [[String: JSONValue]] {
    try text.split(separator: "\n").map {
      try JSONDecoder().decode(JSONValue.self, from: Data($0.utf8)).object
    }
  }

  @Test("a replay tells what the watch has told, each time in the same bytes")
  func replayTellsWhatTheWatchHasTold() throws {
    let folder = try TemporaryDirectory()
    let file = "\(folder.path)/recording"
    let live = try record(file)
    let (text, status) = try shell("stallwatch replay \(file) -t 200ms --json")
    #expect(status == .exited(0))
    #expect(try shell("stallwatch replay \(file) -t 200ms --json").output == text)
    let replayed = try records(text)
    #expect(replayed.map { $0["type"] } == live.map { $0["type"] })
    #expect(replayed.map { $0["watch_id"] } == live.map { $0["watch_id"] })
    for (one, other) in zip(live, replayed) where one["type"] == .string("stall") {
      for key in [
        "id", "state", "verified", "proof", "class", "cause", "duration_ms", "duration_min_ms",
        "duration_max_ms", "breakdown_ms", "surroundings",
      ] {
        #expect(one[key] == other[key], "\(key)")
      }
      // A watch does not wait for names, a replay does.
      guard !one.symbols.isEmpty else { continue }
      #expect(other.symbols == one.symbols && one["fingerprint"] == other["fingerprint"])
    }
  }

  @Test("another threshold gives another judgement, and an exit status of its own")
  func anotherThresholdGivesAnotherJudgement() throws {
    let folder = try TemporaryDirectory()
    let file = "\(folder.path)/recording"
    _ = try record(file)
    let (none, calm) = try shell("stallwatch replay \(file) -t 1m --json --fail-on-stall")
    #expect(calm == .exited(0))
    #expect(try records(none).allSatisfy { $0["type"] != .string("stall") })
    let (some, stalled) = try shell("stallwatch replay \(file) -t 20ms --json --fail-on-stall --count 1")
    #expect(stalled == .exited(10))
    #expect(try records(some).contains { $0["kind"] == .string("recording.gaps") })
    #expect(try records(some).last?["stalls"] == .number(1))
  }

  @Test("what is no recording, or not a whole one, is told in one sentence")
  func otherFilesAreToldInOneSentence() throws {
    let folder = try TemporaryDirectory()
    let file = "\(folder.path)/recording"
    _ = try record(file)
    let (missing, noFile) = try shell("stallwatch replay \(folder.path)/none 2>&1")
    #expect(missing.contains("cannot read") && noFile == .exited(2))
    let (other, noRecording) = try shell("stallwatch replay /bin/sh 2>&1")
    #expect(other.contains("/bin/sh is not a stallwatch recording") && noRecording == .exited(2))
    let (newer, tooNew) = try shell(
      "printf 'stallwatch recording\\n\\x7f' >\(file).new; stallwatch replay \(file).new 2>&1")
    #expect(newer.contains("was written by a newer stallwatch") && tooNew == .exited(2))
    let (early, status) = try shell(
      "head -c -20 \(file) >\(file).cut; stallwatch replay \(file).cut -t 200ms 2>&1")
    #expect(early.contains("ends early: replayed what is there"))
    #expect(early.contains("STALL") && status == .exited(0))
    // An end of no kind that there is.
    let (damaged, used) = try shell(
      "{ cat \(file); printf '\\031\\003\\000\\001\\002'; } >\(file).bad; "
        + "stallwatch replay \(file).bad -t 200ms 2>&1")
    #expect(damaged.contains("is damaged at byte") && damaged.contains("replayed what is before that"))
    #expect(damaged.contains("STALL") && used == .exited(0))
    let (useless, noBegin) = try shell(
      "printf 'stallwatch recording\\n\\001\\011\\001\\001' >\(file).bad; stallwatch replay \(file).bad 2>&1")
    #expect(useless.contains("is damaged where it begins") && noBegin == .exited(2))
    let (refused, wrong) = try shell("stallwatch replay \(file) --interval 20ms 2>&1")
    #expect(refused.contains("--interval has no meaning for replay, only for watch and run"))
    #expect(wrong == .exited(2))
  }

  @Test("a full disk ends the recording and not the watch") func fullDiskEndsTheRecordingOnly() throws {
    let folder = try TemporaryDirectory()
    let log = "\(folder.path)/log"
    let target = try TargetProcess.start("stalling-loop", "epoll", "sleep")
    let (text, status) = try shell(
      "stallwatch --json --pid \(target.processID) -d 1s --record /dev/full 2>\(log); cat \(log)")
    #expect(text.contains("\"type\":\"summary\"") && status == .exited(0))
    #expect(text.split(separator: "\n").filter { $0.contains("cannot write the recording") }.count == 1)
  }

  @Test("a program that is run is recorded to its end") func programThatIsRunIsRecorded() throws {
    let folder = try TemporaryDirectory()
    let file = "\(folder.path)/recording"
    _ = try shell("stallwatch run --record \(file) -o /dev/null -- sh -c 'sleep 1; exit 3'")
    let (text, status) = try shell("stallwatch replay \(file)")
    #expect(text.contains("the process ended with status 3") && status == .exited(0))
  }
}
