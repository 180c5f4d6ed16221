// What surrounds the program: inherited signals, limits, readers that do not read, being process 1.

import Glibc
import Linux
import TestSupport
import Testing

@Suite(.serialized) struct SurroundingsTests {
  @Test(arguments: ["HUP", "INT", "QUIT", "PIPE", "TERM"])
  func childIgnoresWhatWeWereToldToIgnore(_ signal: String) throws {
    let script = "trap '' \(signal); exec $W run -q -- sh -c 'kill -\(signal) $$; exit 3'"
    #expect(try shell(script).status == .exited(3))
  }

  @Test func childDiesOfABrokenPipeAlthoughWeIgnoreIt() throws {
    #expect(try shell("exec $W run -q -- sh -c 'kill -PIPE $$; exit 3'").status == .signaled(SIGPIPE))
  }

  /// The child has ended and its last records do not fit into the pipe.
  @Test func runWhoseReportsNobodyReadsCanBeEnded() throws {
    let script = """
      mkfifo /tmp/stallwatch-test-$$ && exec 9<>/tmp/stallwatch-test-$$ && rm /tmp/stallwatch-test-$$
      head -c 65536 /dev/zero >&9
      $W run --json -o fd:9 -- sh -c 'echo $PPID; exit 6'
      """
    var run = try TargetProcess(
      path: "/bin/sh", arguments: ["-c", "W=\(builtProduct("stallwatch"))\n\(script)\necho status $?"])
    let watcher = try #require(Int32(try run.readLine()))
    #expect(
      eventually {
        let children = try? readPseudoFile("/proc/\(watcher)/task/\(watcher)/children")
        return children.map { !String(decoding: $0, as: UTF8.self).contains(" sh") } ?? true
      })
    #expect(
      try eventually { () throws(Errno) in
        kill(watcher, SIGTERM)
        return try run.hasOutput()
      })
    #expect(try run.readLine() == "status 6")
  }

  @Test func tooFewDescriptorsAreNoMatterOfRights() throws {
    let target = try TargetProcess.start("idle", "frame-loop")
    let (output, status) = try shell("ulimit -n 12; $W --pid \(target.processID) 2>&1")
    #expect(status == .exited(1))
    #expect(output.contains("Too many open files") && !output.contains("PTRACE"))
  }

  @Test func endedProcessIsToldApartFromNone() throws {
    let (output, _) = try shell(
      "sh -c 'sleep 0.1 & echo $!; exec sleep 3' | { read p; sleep 0.5; $W dump --pid $p 2>&1; }")
    #expect(output.contains("has ended; only its status is left"))
  }

  @Test func processOneBuriesOrphans() throws {
    let orphans = "(sleep 0.01 &); (sleep 0.01 &); sleep 0.3; ps -eo stat= | grep -c Z; true"
    let (output, status) = try shell(
      "unshare -pf --mount-proc true && unshare -pf --mount-proc $W run -q -- sh -c '\(orphans)'")
    // Not allowed to everyone.
    if status == .exited(0) { #expect(output.hasSuffix("0")) }
  }

  @Test func missingProcIsNamed() throws {
    let (output, status) = try shell(
      "unshare -m true || exit 9; unshare -m sh -c \"umount -l /proc; $W --pid 1 2>&1\"")
    if status != .exited(9) { #expect(output.contains("cannot read /proc")) }
  }
}
