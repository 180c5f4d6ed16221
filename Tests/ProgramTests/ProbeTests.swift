// Probes from outside, against a loop on this machine.

import Glibc
import Linux
import TestSupport
import Testing

/// A loop that answers in this way on a port of the loopback.
private struct AnsweringLoop: ~Copyable {
  let process: TargetProcess
  let port: String

  init(_ kind: String) throws {
    var target = try TargetProcess.start("answering-loop", kind)
    port = try target.readLine()
    process = target
  }
}

@Suite(.serialized) struct ProbeTests {
  private func watch(_ process: Int32, _ probe: String) throws -> WatchRun {
    try WatchRun(["--json", "--pid", "\(process)", "--threshold", "200ms", "--probe", probe])
  }

  @Test(arguments: ["http", "tcp"]) func unansweredProbeStandsBesideTheStall(_ scheme: String) throws {
    let target = try AnsweringLoop(scheme == "http" ? "http" : "closes")
    var watch = try watch(target.process.processID, "\(scheme)://localhost:\(target.port)")
    _ = try watch.next("notice", kind: "loop.found")
    target.process.signal(SIGUSR1)
    let ended = try watch.next("stall", state: "ended")
    let probe = try #require(ended["probe"]?.object)
    #expect(try #require(probe.number("answer_ms") ?? probe.number("unanswered_ms")) > 300)
    #expect(ended["verified"] == .boolean(true))
    watch.signal(SIGINT)
    let summary = try #require(try watch.next("summary")["probe"]?.object)
    #expect(try #require(summary.number("answers")) > 2)
    #expect(summary["failures"] == .number(0))
    #expect(try #require(summary.number("longest_ms")) > 300)
    #expect(try #require(summary.number("p50_ms")) < 300)
  }

  @Test func socketInTheFileSystemIsAsked() throws {
    let path = "/tmp/stallwatch-test-\(getpid())-probe.sock"
    defer { unsafe unlink(path) }
    let target = try TargetProcess.start("answering-loop", "closes", path)
    var watch = try watch(target.processID, "unix:\(path)")
    _ = try watch.next("notice", kind: "loop.found")
    watch.signal(SIGINT)
    let summary = try #require(try watch.next("summary")["probe"]?.object)
    #expect(try #require(summary.number("answers")) > 0 && summary["failures"] == .number(0))
  }

  @Test func deadProbeIsToldOnceAndWatchingGoesOn() throws {
    let target = try TargetProcess.start("stalling-loop", "epoll", "sleep")
    // Nobody listens on a port of the loopback that was just given back.
    let other = try AnsweringLoop("http")
    let port = other.port
    other.process.signal(SIGKILL)
    var watch = try watch(target.processID, "http://127.0.0.1:\(port)/health")
    let text = try #require(try watch.next("notice", kind: "probe.failed")["text"]?.string)
    #expect(text.contains("cannot connect") && text.contains("curl http://127.0.0.1:\(port)/health"))
    target.signal(SIGUSR1)
    let ended = try watch.next("stall", state: "ended")
    #expect(ended["probe"] == nil)
    watch.signal(SIGINT)
    let summary = try #require(try watch.next("summary")["probe"]?.object)
    #expect(summary["answers"] == .number(0) && summary["p50_ms"] == nil)
    #expect(watch.records(of: "notice").count { $0["kind"] == .string("probe.failed") } == 1)
  }

  /// The kernel accepts; that is no answer of the loop.
  @Test func acceptedConnectionIsNoAnswer() throws {
    let target = try AnsweringLoop("silent")
    var watch = try watch(target.process.processID, "tcp://127.0.0.1:\(target.port)")
    _ = try watch.next("notice", kind: "loop.found")
    target.process.signal(SIGUSR1)
    let ended = try watch.next("stall", state: "ended")
    #expect(ended["probe"]?.object.number("unanswered_ms") != nil)
    watch.signal(SIGINT)
    #expect(try watch.next("summary")["probe"]?.object["answers"] == .number(0))
  }

  @Test func answerOfAnotherProcessIsNoPass() throws {
    let other = try AnsweringLoop("http")
    let target = try TargetProcess.start("stalling-loop", "epoll", "sleep")
    var watch = try watch(target.processID, "http://127.0.0.1:\(other.port)/")
    _ = try watch.next("notice", kind: "probe.foreign")
    target.signal(SIGUSR1)
    #expect(try watch.next("stall", state: "ended")["verified"] == .boolean(true))
    other.process.signal(SIGKILL)
  }
}
