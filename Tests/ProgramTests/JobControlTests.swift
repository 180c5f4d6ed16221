// `run` in a terminal: the program gets what the terminal sends as it would without us.

import FoundationEssentials
import Glibc
import Linux
import TestSupport
import Testing

private func contents(_ path: String) -> String {
  String(decoding: (try? FileDescriptor.open(path).readAll(limit: 1 << 20)) ?? [], as: UTF8.self)
}

@Suite(.serialized) struct JobControlTests {
  private let file = "/tmp/stallwatch-test-\(getpid())-jobs.jsonl"

  @Test("LIFE-06: an interrupt from the terminal is the program's own matter")
  func interruptIsTheProgramsOwnMatter() throws {
    defer { unsafe unlink(file) }
    var session = try TerminalSession.shell()
    // Not Python's prompt: it overlooks an interrupt between the prompt and its wait.
    try session.type(
      "$W run --json -o \(file) -- sh -c 'trap \"printf inter%s rupted; exit 3\" INT; printf rea%s dy; "
        + "while :; do sleep 0.05; done'")
    try session.wait(for: "ready")
    try session.type("\u{3}")
    try session.wait(for: "interrupted")
    try session.waitForPrompt()
    try session.type("echo status=$?")
    try session.wait(for: "status=3")
    #expect(contents(file).contains("\"summary\""))
  }

  @Test("LIFE-06: quit ends both alike") func quitEndsBothAlike() throws {
    var session = try TerminalSession.shell()
    try session.type("$W run -q -- python3 -q")
    try session.wait(for: ">>> ")
    try session.type("\u{1C}")
    try session.wait(for: "Quit")
    try session.waitForPrompt()
    try session.type("echo status=$?")
    try session.wait(for: "status=131")
  }

  @Test("LIFE-06: suspend stops both, and foreground goes on without a stall")
  func suspendStopsBothAndForegroundGoesOnWithoutAStall() throws {
    defer { unsafe unlink(file) }
    var session = try TerminalSession.shell()
    try session.type("$W run --json --threshold 100ms -o \(file) -- python3 -q")
    try session.wait(for: ">>> ")
    try session.type("\u{1A}")
    try session.wait(for: "Stopped")
    usleep(300_000)
    try session.type("fg")
    try session.type("print(6 * 7)")
    try session.wait(for: "42")
    try session.type("exit()")
    try session.waitForPrompt()
    try session.type("echo status=$?")
    try session.wait(for: "status=0")
    let records = contents(file)
    #expect(records.contains("\"summary\"") && records.contains("\"stalls\":0"))
  }

  @Test("LIFE-06: a background program that reads stops until it is brought back")
  func backgroundProgramThatReadsStopsUntilItIsBroughtBack() throws {
    var session = try TerminalSession.shell()
    try session.type("$W run -q -- sh -c 'read line; echo got-$line' &")
    try session.wait(for: "Stopped")
    try session.type("fg")
    try session.type("hello")
    try session.wait(for: "got-hello")
    try session.type("echo status=$?")
    try session.wait(for: "status=0")
  }

  /// The kernel tells only the leader of the session, which the program would be without us.
  @Test("LIFE-06: a hangup of our terminal ends the program") func hangupOfOurTerminalEndsTheProgram() throws
  {
    var session = try TerminalSession([
      builtProduct("stallwatch"), "run", "-q", "--", builtProduct("TestTarget"), "pause",
    ])
    let watcher = try session.leader()
    try session.wait(for: "ready")
    let children = try readPseudoFile("/proc/\(watcher)/task/\(watcher)/children")
    let programs = String(decoding: children, as: UTF8.self).split(separator: " ").compactMap { Int32($0) }
    #expect(!programs.isEmpty)
    #expect(try session.hangUp() == 128 + Int(SIGHUP))
    #expect(eventually { programs.allSatisfy { kill($0, 0) != 0 } })
  }

  @Test("LIFE-06: a hangup of the shell ends the program") func hangupOfTheShellEndsTheProgram() throws {
    var session = try TerminalSession.shell()
    try session.type("$W run -q -- sh -c 'echo id-$$-; exec sleep 60'")
    try session.wait(for: "sleep 60")
    let program = try #require(try Int32(session.number(after: "id-")))
    _ = try session.hangUp()
    #expect(eventually { kill(program, 0) != 0 })
  }
}
