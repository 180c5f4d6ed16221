// Exit statuses, streams and signals.

import Glibc
import Linux
import TestSupport
import Testing

@Suite(.serialized) struct CommandLineBehaviourTests {
  @Test(
    "LIFE-04: the exit status is the child's, or says what failed",
    arguments: [
      ("run -- sh -c 'exit 7'", 7), ("run -- sh -c 'exit 0'", 0), ("run -- /no/such/program", 127),
      ("run -- /etc/passwd", 126), ("run", 125), ("--pid 999999999", 3), ("--pid 1 --threshold 500", 2),
      ("--no-such-option", 2), ("--version", 0), ("--help", 0), ("dump --pid 999999999", 3),
      ("run --json -- true", 125), ("run -o /tmp -- true", 125), ("--pid 1 -o /tmp", 2),
      ("-- sh -c 'exit 3'", 3),
    ] as [(String, Int32)])
  func exitStatus(_ arguments: String, _ status: Int32) throws {
    #expect(try shell("stallwatch \(arguments)").status == .exited(status))
  }

  @Test func durationWithoutUnitProposesOne() throws {
    let (output, _) = try shell("stallwatch --pid 1 --threshold 500 2>&1")
    #expect(output.contains("500ms?"))
  }

  @Test("LIFE-04: a child that is killed kills us alike") func childThatIsKilledKillsUsAlike() throws {
    var run = try WatchRun(["run", "-q", "--", "/bin/sh", "-c", "kill -9 $$"])
    #expect(try run.end() == .signaled(SIGKILL))
  }

  @Test func childGetsItsOwnOutputAndOursGoesToStandardError() throws {
    #expect(try shell("stallwatch run -- echo mine 2>/dev/null").output == "mine")
  }

  @Test("LIFE-05: an ignored SIGCHLD loses neither status nor report")
  func ignoredChildSignalDoesNotLoseTheStatus() throws {
    #expect(try shell("trap '' CHLD; exec $W run -q -- sh -c 'true & exit 5'").status == .exited(5))
    // A program that ends before the first look has no report.
    let (output, status) = try shell(
      "trap '' CHLD; exec $W run --json -o /dev/stdout -- sh -c 'true & sleep 0.5; exit 5'")
    #expect(status == .exited(5))
    #expect(output.contains("\"status\":5") && output.contains("\"type\":\"summary\""), "\(output)")
  }

  @Test("LIFE-06: a signal from a process is passed to the child") func signalFromAProcessIsPassedToTheChild()
    throws
  {
    var run = try WatchRun([
      "run", "-q", "--", "/bin/sh", "-c",
      "trap 'echo got; exit 9' TERM; echo up; while :; do sleep 0.05; done",
    ])
    #expect(try run.readLine() == "up")
    run.signal(SIGTERM)
    #expect(try run.readLine() == "got")
    #expect(try run.end() == .exited(9))
  }

  @Test("PROC-09: a thread id is refused, with its process") func threadIdIsRefusedWithItsProcess() throws {
    let target = try startJoiningProgram()
    let thread = try #require(ThreadList.threads(of: target.processID).first { $0 != target.processID })
    let (output, status) = try shell("stallwatch --pid \(thread) 2>&1")
    #expect(status == .exited(2))
    #expect(
      output.contains("is a thread of") && output.contains("--pid \(target.processID) --thread \(thread)"))
  }

  @Test func ourselvesIsRefused() throws {
    #expect(try shell("exec $W --pid $$ 2>&1").status == .exited(2))
  }

  /// The test itself may run without rights; then another user's process is what it is already.
  @Test(arguments: ["", "dump"]) func processOfAnotherUserIsRefusedOnce(_ command: String) throws {
    let target = try TargetProcess.start("idle", "join")
    let isRoot = getuid() == 0
    let process = isRoot ? target.processID : 1
    let copy = "/tmp/stallwatch-test-\(getpid())-program"
    defer { unsafe unlink(copy) }
    // Where /proc has hidepid, it would not show the process at all.
    let drop =
      isRoot
      ? "unshare -m sh -c '\(RightsLab.openProc); exec \(Person.nobody.rawValue) \"$0\" \"$@\"'" : ""
    let (output, status) = try shell("cp $W \(copy) && \(drop) \(copy) \(command) --pid \(process) 2>&1")
    #expect(status == .exited(4))
    #expect(output.contains("belongs to") && output.contains("next: sudo stallwatch \(command)"))
    #expect(!output.contains("thread "))
  }

  @Test func kernelThreadIsRefused() throws {
    let (output, status) = try shell("stallwatch --pid 2 2>&1")
    // In a pid namespace of our own there is no process 2, or it is no part of the kernel.
    if output.contains("thread of the kernel") { #expect(status == .exited(4)) }
  }

  @Test("OUT-01: a closed pipe ends the watch quietly, and the target lives")
  func closedPipeEndsQuietlyAndTheTargetLives() throws {
    var target = try TargetProcess.start("idle", "frame-loop")
    let (output, _) = try shell("$W --json --pid \(target.processID) --threshold 10ms 2>&1 | head -1")
    #expect(output.hasPrefix("{") && output.contains("attach"))
    let isAlive = target.isAlive()
    #expect(isAlive)
  }

  @Test("OUT-01: a closed pipe does not end the child") func closedPipeDoesNotEndTheChild() throws {
    let (output, status) = try shell(
      "$W run -o fd:3 -- sh -c 'sleep 0.5; exit 4' 3>&1 >/dev/null | true; echo over")
    #expect(output.contains("over") && status == .exited(0))
  }

  @Test("OUT-01: a full disk is told once") func fullDiskIsToldOnce() throws {
    let target = try TargetProcess.start("idle", "frame-loop")
    let (output, status) = try shell("$W --pid \(target.processID) --duration 300ms 2>&1 >/dev/full")
    #expect(output.components("cannot write a report") == 1)
    #expect(status == .exited(0))
  }

  @Test("OUT-01: a closed standard output is no crash") func closedStandardOutputIsNoCrash() throws {
    let target = try TargetProcess.start("idle", "frame-loop")
    let (output, status) = try shell("$W --pid \(target.processID) --duration 300ms 3>&1 2>&3 >&- 0>&-")
    #expect(output.components("cannot write a report: Bad file descriptor") == 1)
    #expect(status == .exited(0))
  }

  @Test func hangupOpensTheOutputAnew() throws {
    let target = try TargetProcess.start("idle", "frame-loop")
    let path = "/tmp/stallwatch-test-\(getpid()).jsonl"
    defer { for name in [path, path + ".1"] { unsafe unlink(name) } }
    var watch = try WatchRun(["--json", "-o", path, "--pid", "\(target.processID)"])
    let isThere = eventually { unsafe access(path, R_OK) == 0 }
    #expect(isThere)
    unsafe rename(path, path + ".1")
    watch.signal(SIGHUP)
    let isThereAgain = eventually { unsafe access(path, R_OK) == 0 }
    #expect(isThereAgain)
    watch.signal(SIGTERM)
    #expect(try watch.end() == .exited(0))
    let text = try FileDescriptor.open(path).readAll(limit: 1 << 20)
    #expect(String(decoding: text, as: UTF8.self).contains("\"summary\""))
  }

  @Test func hangupKeepsAFileThatWasNotMoved() throws {
    let target = try TargetProcess.start("idle", "frame-loop")
    let path = "/tmp/stallwatch-test-kept-\(getpid()).jsonl"
    defer { unsafe unlink(path) }
    var watch = try WatchRun(["--json", "-o", path, "--pid", "\(target.processID)"])
    #expect(eventually { ((try? FileDescriptor.open(path).readAll(limit: 1 << 20)) ?? []).count > 100 })
    watch.signal(SIGHUP)
    watch.signal(SIGTERM)
    #expect(try watch.end() == .exited(0))
    let text = String(decoding: try FileDescriptor.open(path).readAll(limit: 1 << 20), as: UTF8.self)
    #expect(text.contains("\"attach\"") && text.contains("\"summary\""))
  }

  @Test func dumpShowsEveryThread() throws {
    let target = try startJoiningProgram()
    var dump = try WatchRun(["dump", "--json", "--pid", "\(target.processID)"])
    try dump.readToEnd()
    #expect(dump.records(of: "dump").count == 2)
    #expect(dump.records(of: "dump").contains { $0.symbols.contains("forever") })
    #expect(dump.records(of: "dump").contains { $0.symbols.contains("main") })
    #expect(try dump.end() == .exited(0))
  }

  @Test("UW-20: main is shown though it left its frame to the function it ended in")
  func mainIsShownThoughItLeftNoFrame() throws {
    var target = try TargetProcess(path: builtProduct("TestTailCall"), arguments: [])
    #expect(try target.readLine() == "ready")
    var dump = try WatchRun(["dump", "--json", "--pid", "\(target.processID)"])
    let symbols = try dump.next("dump").symbols
    let main = try #require(symbols.firstIndex(of: "main"))
    #expect(symbols[main - 1] == "wait_for_ever")
  }

  @Test func mainIsShownThoughItHasNoSymbol() throws {
    let stripped = "/tmp/stallwatch-test-\(getpid())-stripped"
    defer { unsafe unlink(stripped) }
    #expect(try shell("strip -s -o \(stripped) \(builtProduct("TestTarget"))").status == .exited(0))
    var target = try TargetProcess(path: stripped, arguments: ["pause"])
    #expect(try target.readLine() == "ready")
    var dump = try WatchRun(["dump", "--json", "--pid", "\(target.processID)"])
    #expect(try dump.next("dump").symbols.contains("main"))
  }

  @Test func dumpOnSignalWhileWatching() throws {
    let target = try startJoiningProgram()
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)"])
    _ = try watch.next("attach")
    watch.signal(SIGUSR1)
    let summary = try watch.next("dump_summary")
    #expect(summary["threads"] == .number(2))
  }

  @Test("PROC-10: a busy thread is reported, with no more than one core") func busyThreadIsReported() throws {
    let target = try TargetProcess.start("spin")
    var watch = try WatchRun([
      "--json", "--pid", "\(target.processID)", "--cpu-window", "300ms", "--cpu-threshold", "30",
    ])
    let record = try watch.next("cpu")
    #expect((30...100).contains(try #require(record.number("cpu_percent"))))
    #expect(!record.symbols.isEmpty)
  }
}

/// A program of two threads, both there.
private func startJoiningProgram() throws -> TargetProcess {
  let target = try TargetProcess.start("idle", "join")
  let process = target.processID
  let isComplete = try eventually { () throws(Errno) in try ThreadList.threads(of: process).count == 2 }
  #expect(isComplete)
  return target
}

extension String {
  /// How often the text occurs.
  fileprivate func components(_ text: String) -> Int {
    var count = 0
    var rest = self[...]
    while let range = rest.firstRange(of: text) {
      count += 1
      rest = rest[range.upperBound...]
    }
    return count
  }
}
