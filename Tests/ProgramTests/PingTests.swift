// `--ping`, end to end: loops of real libraries are woken and found to come round or not, and nothing else is touched.

import Glibc
import Linux
import TestSupport
import Testing

@Suite(.serialized) struct PingTests {
  private func watch(_ process: Int32, _ options: String...) throws -> WatchRun {
    try WatchRun(["--json", "--pid", "\(process)", "--no-breakpoint", "--ping"] + options)
  }

  @Test("a ping tells load from a stall", arguments: [("glib-2.0", 900), ("libuv", 1900), ("node", 1900)])
  func pingTellsLoadFromAStall(_ library: String, milliseconds: Int) throws {
    let directory = try TemporaryDirectory()
    guard var target = try LibraryLoop.start(library, milliseconds: milliseconds, in: directory) else {
      return
    }
    var watch = try watch(target.processID)
    _ = try watch.next("notice", kind: "loop.found")
    target.signal(SIGUSR2)
    let ended = try watch.next("stall", state: "ended")
    #expect(ended["proof"]?.string == "ping" && ended["verified"] == .boolean(true))
    let truth = try target.readLine().split(separator: " ").compactMap { Int64($0) }
    try expectBounds(of: ended, truth)
    watch.signal(SIGINT)
    let summary = try watch.next("summary")
    #expect(summary["stalls"] == .number(1))
    let responses = try #require(summary["ping_responses"]?.object)
    #expect(try #require(responses.number("count")) > 2)
    #expect(try #require(responses.number("longest_ms")) >= 500)
    #expect(watch.records(of: "notice").allSatisfy { $0["kind"] != .string("passes.ping") })
  }

  /// The kernel shows it taken although nothing else has happened, and the loop goes on as before.
  @Test(
    "an idle loop takes a wake-up at once and is none the worse",
    arguments: ["glib-2.0", "libuv", "node", "libdispatch"])
  func idleLoopTakesAWakeUp(_ library: String) throws {
    let directory = try TemporaryDirectory()
    guard var target = try LibraryLoop.start(library, milliseconds: 1, in: directory) else { return }
    let process = target.processID
    var counter: WakeUpCounter?
    // At its beginning it may not be there yet.
    _ = eventually {
      for place in LibraryLoop.places(of: process) where counter == nil {
        counter = try? LoopWakeUp.raise(process: process, waitingOn: place)
      }
      return counter != nil
    }
    let raised = try #require(counter)
    #expect(eventually { LoopWakeUp.isTaken(raised, process: process) == true })
    let isAlive = target.isAlive()
    #expect(isAlive)
    target.signal(SIGUSR2)
    #expect(try target.readLine().split(separator: " ").count == 2)
  }

  @Test("of several eventfds none is touched, and that is told") func foreignEventIsNotTouched() throws {
    let directory = try TemporaryDirectory()
    guard var target = try LibraryLoop.start("glib-2.0", milliseconds: 900, in: directory, "foreign") else {
      return
    }
    let foreign = try #require(Int32(try target.readLine()))
    var watch = try watch(target.processID)
    _ = try watch.next("notice", kind: "loop.found")
    target.signal(SIGUSR2)
    let text = try watch.next("notice", kind: "passes.ping")["text"]?.string ?? ""
    #expect(text.hasPrefix("the loop is not pinged: it waits on 2 eventfds"), "\(text)")
    _ = try target.readLine()
    // Nobody else empties it.
    #expect(EventCounter(process: target.processID, descriptor: foreign)?.count == 0)
    watch.signal(SIGINT)
    #expect(try watch.next("summary")["ping_responses"] == nil)
  }

  @Test("a loop that nobody knows is left alone, and that is told") func unknownLoopIsNotTouched() throws {
    let target = try TargetProcess.start("heart", "idle")
    var watch = try watch(target.processID)
    let text = try watch.next("notice", kind: "passes.ping")["text"]?.string ?? ""
    #expect(text.hasPrefix("the loop is not pinged: it is of no library"), "\(text)")
    #expect(text.contains("--heartbeat"))
    watch.signal(SIGINT)
    #expect(try watch.next("summary")["ping_responses"] == nil)
    #expect(watch.records(of: "notice").count { $0["kind"] == .string("passes.ping") } == 1)
  }

  @Test(
    "what has no wake-up of its own is told by name",
    arguments: [("RunLoop", "no wake-up of"), ("libdispatch", "the main queue is not pinged")])
  func otherLoopsAreTold(_ library: String, _ words: String) throws {
    let directory = try TemporaryDirectory()
    guard let target = try LibraryLoop.start(library, milliseconds: 1, in: directory) else { return }
    var watch = try watch(target.processID)
    let text = try watch.next("notice", kind: "passes.ping")["text"]?.string ?? ""
    #expect(text.contains(words), "\(text)")
    watch.signal(SIGINT)
    #expect(try watch.next("summary")["ping_responses"] == nil)
  }
}
