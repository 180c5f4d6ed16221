// `--name` and `--wait`.

import Glibc
import Linux
import TestSupport
import Testing

/// A program of a name that nobody else on the machine has, longer than a thread's name can be.
private struct NamedProgram: ~Copyable {
  let name: String
  let path: String

  init(_ what: String, copyOf program: String = "TestTarget") throws {
    name = "sw\(getpid())-\(what)-long-name"
    path = "/tmp/\(name)"
    #expect(try shell("cp \(builtProduct(program)) \(path)").status == .exited(0))
  }

  deinit { unsafe unlink(path) }

  func start(_ arguments: String...) throws -> TargetProcess {
    var target = try TargetProcess(path: path, arguments: arguments)
    #expect(try target.readLine() == "ready")
    return target
  }
}

@Suite(.serialized) struct NameTests {
  @Test func nameFindsTheOnlyProcessThatBearsIt() throws {
    let program = try NamedProgram("one")
    let target = try program.start("pause")
    // On a busy machine a dump may come without the stack.
    let (output, status) = try shell(
      "$W --name \(program.name) --duration 200ms && $W dump --name \(program.name); [ $? = 0 -o $? = 5 ]")
    #expect(status == .exited(0))
    #expect(output.contains("watching \(program.name.prefix(15)) \(target.processID)"))
    #expect(output.contains("thread \(target.processID)"))
  }

  @Test func severalAreListedAndNoneIsTold() throws {
    let program = try NamedProgram("two")
    #expect(try shell("$W --name \(program.name)").status == .exited(3))
    let first = try program.start("pause")
    let second = try program.start("idle", "poll")
    let (output, status) = try shell("$W --name \(program.name) 2>&1")
    #expect(status == .exited(2))
    let user = UserAccount.name(of: getuid())
    #expect(output.contains("2 processes are named \(program.name)"))
    #expect(output.contains("  \(first.processID)  \(user)  "))
    #expect(
      output.contains("  \(second.processID)  \(user)  ") && output.contains("\(program.path) idle poll"))
    #expect(output.contains("next: stallwatch --pid \(first.processID)"))
  }

  /// A longer name that begins alike is another one.
  @Test func fileTellsNamesApartThatBeginAlike() throws {
    let program = try NamedProgram("alike")
    let target = try program.start("pause")
    #expect(try shell("$W dump --name \(program.name) | grep -c '^thread'").output == "1")
    #expect(try shell("$W dump --name \(program.name.dropLast())").status == .exited(3))
    #expect(target.processID > 0)
  }

  @Test func weAreNeverMeant() throws {
    let program = try NamedProgram("self", copyOf: "stallwatch")
    #expect(try shell("exec \(program.path) --name \(program.name)").status == .exited(3))
  }

  @Test func eachProcessOfTheNameIsWatchedInTurn() throws {
    let program = try NamedProgram("next")
    var watch = try WatchRun(["--json", "--name", program.name, "--wait"])
    for generation in 1...2 {
      let target = try program.start("pause")
      let attach = try watch.next("attach")
      #expect(attach["pid"] == .number(Double(target.processID)))
      #expect(attach["generation"] == .number(Double(generation)))
      target.signal(SIGKILL)
      #expect(try watch.next("exit")["generation"] == .number(Double(generation)))
      #expect(try watch.next("summary")["generation"] == .number(Double(generation)))
    }
    watch.signal(SIGTERM)
    #expect(try watch.end() == .exited(0))
  }

  @Test func waitCanBeEnded() throws {
    let program = try NamedProgram("never")
    #expect(try shell("$W --name \(program.name) --wait --duration 300ms 2>&1").status == .exited(0))
    let (output, status) = try shell(
      "$W --name \(program.name) --wait 2>&1 & sleep 0.5; kill -TERM $!; wait $!; echo status=$?")
    #expect(status == .exited(0))
    #expect(output == "waiting for a process named \(program.name)\nstatus=0")
  }
}
