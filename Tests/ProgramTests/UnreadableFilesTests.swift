// Files of `/proc` that do not answer, or tell of a process that must be left alone: others are put in their places, in a
// mount namespace of the test's own.

import Glibc
import Linux
import TestSupport
import Testing

@Suite(.serialized) struct UnreadableFilesTests {
  private static let canMount = (try? shell("unshare -m true").status) == .exited(0)

  /// Runs a command where a file of the process has been replaced by what `making` prepares as `$f`.
  private func shellInNamespace(
    _ files: [String], making: String, _ command: String
  ) throws -> (output: String, status: Linux.ExitStatus) {
    let mounts = files.map { "mount --bind $f \($0)" }.joined(separator: " && ")
    return try shell(
      """
      export W; f=/tmp/stallwatch-test-\(getpid())-file; \(making)
      f=$f unshare -m sh -c '\(mounts) && \(command)'; s=$?; rm -f $f; exit $s
      """)
  }

  /// Those two take the lock of the target's memory; `stat`, `status` and `schedstat` do not (fs/proc/array.c).
  @Test(
    "PROC-11: arguments and mappings that cannot be read hold up nothing but themselves",
    .enabled(if: canMount, "no mount namespace of its own is allowed"))
  func filesThatNeverAnswer() throws {
    let target = try TargetProcess.start("parked-crowd", "1")
    let process = "/proc/\(target.processID)"
    let (output, status) = try shellInNamespace(
      ["\(process)/cmdline", "\(process)/task/\(target.processID)/maps"], making: "mkfifo $f;",
      // On a busy machine the helper, which each of these readings costs its life, may not be back for the next stall.
      "timeout -s KILL 20 $W --pid \(target.processID) -t 100ms --count 12 2>&1")
    #expect(status == .exited(0))
    #expect(output.contains("STALL") && output.contains("sleep"))
    #expect(output.contains("the list of its mappings could not be read"))
    #expect(output.contains("missing: command line"))
  }

  /// A real core dump needs a change of the machine's core_pattern.
  @Test(
    "PT-17: a process that dumps core is not touched, and said to do so",
    .enabled(if: canMount, "no mount namespace of its own is allowed"))
  func coreDump() throws {
    let target = try TargetProcess.start("spin")
    let status = "/proc/\(target.processID)/task/\(target.processID)/status"
    let (output, _) = try shellInNamespace(
      [status], making: #"sed 's/^CoreDumping:.*/CoreDumping:\t1/' \#(status) >$f;"#,
      "$W dump --pid \(target.processID) 2>&1")
    #expect(output.contains("crashed and is dumping core"))
    #expect(output.contains("target stopped 0 µs"))
  }

  @Test(
    "PT-17: the cause of such a stall is the crash, not the call in which it came",
    .enabled(if: canMount, "no mount namespace of its own is allowed"))
  func stallOfACrash() throws {
    let target = try TargetProcess.start("parked-crowd", "1")
    let status = "/proc/\(target.processID)/task/\(target.processID)/status"
    let (output, _) = try shellInNamespace(
      [status], making: #"sed 's/^CoreDumping:.*/CoreDumping:\t1/' \#(status) >$f;"#,
      "timeout -s KILL 20 $W --pid \(target.processID) -t 100ms --count 1 2>&1")
    #expect(output.contains("it has crashed, and its core dump is being written"))
    #expect(!output.contains("sleeping"))
  }

  /// A program and its file system, which answers until it is stopped.
  private struct ProgramOnItsMount: ~Copyable {
    private let server: TargetProcess
    let process: Int32

    init(_ directory: borrowing TemporaryDirectory) throws {
      var server = try TargetProcess(
        path: builtProduct("TestTarget"), arguments: ["on-dead-filesystem", directory.path])
      let process = try #require(Int32(try server.readLine()))
      #expect(try server.readLine() == "ready")
      self.process = process
      self.server = server
    }

    func stopAnswering() { server.signal(SIGSTOP) }
  }

  private static let hasFUSE: Bool = {
    do {
      let directory = try TemporaryDirectory()
      return try ProgramOnItsMount(directory).process > 0
    } catch { return false }
  }()

  @Test(
    "PROC-11, NS-07: a program whose file lies on a dead mount has a stack",
    .enabled(if: hasFUSE, "no file system of its own (FUSE) is allowed"))
  func deadFileSystem() throws {
    let directory = try TemporaryDirectory()
    let program = try ProgramOnItsMount(directory)
    program.stopAnswering()
    var dump = try WatchRun(["dump", "--json", "--pid", "\(program.process)"])
    let record = try dump.next("dump")
    #expect(record.symbols.contains { $0.contains("pause") })
    #expect(try dump.end() == .exited(0))
  }

  @Test("PT-07: a thread in an uninterruptible wait costs no deadline, and the others are shown")
  func uninterruptibleThread() throws {
    let target = try TargetProcess.start("vfork-parent", "beside")
    let process = target.processID
    #expect(try eventually { () throws(Errno) in try threadStates(of: process)[process] == "D" })
    var dump = try WatchRun(["dump", "--json", "--pid", "\(process)"])
    try dump.readToEnd()
    let ways = dump.records(of: "dump").map { $0["stacks"]?.array.first?.object["captured"]?.string }
    #expect(Set(ways) == (isTaskIteratorExpected ? ["task-iterator"] : ["syscall-file", "ptrace"]))
    #expect(try dump.end() == .exited(0))
    #expect(try threadStates(of: process)[process] == "D")
  }

  /// A page whose fault nobody answers keeps whoever reads it.
  @Test(
    "UW-21: memory that nobody serves, on the way of the stack or in a call's arguments, holds nothing up",
    arguments: ["unserved-frame", "unserved-poll"])
  func unservedMemory(_ program: String) throws {
    var target = try TargetProcess(path: builtProduct("TestTarget"), arguments: [program])
    guard try target.readLine() == "ready" else { return print("skipped: userfaultfd is not allowed") }
    let process = target.processID
    #expect(try eventually { () throws(Errno) in try threadStates(of: process)[process] != "R" })
    let (output, status) = try shell("timeout -s KILL 8 $W dump --pid \(process)")
    #expect(status == .exited(0))
    #expect(output.contains(program == "unserved-frame" ? "pause_over_page" : "poll"), "\(output)")
    let watch = "timeout -s KILL 8 $W --pid \(process) --threshold 100ms --duration 500ms"
    #expect(try shell(watch).status == .exited(0))
    #expect(try threadStates(of: process).values.allSatisfy { "SD".contains($0) })
  }
}
