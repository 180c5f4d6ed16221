// What surrounds the program: inherited signals, limits, readers that do not read, being process 1.

import Glibc
import Linux
import TestSupport
import Testing

@Suite(.serialized) struct SurroundingsTests {
  @Test(arguments: ["HUP", "INT", "QUIT", "PIPE", "XFSZ", "TERM"])
  func childIgnoresWhatWeWereToldToIgnore(_ signal: String) throws {
    let script = "trap '' \(signal); exec $W run -q -- sh -c 'kill -\(signal) $$; exit 3'"
    #expect(try shell(script).status == .exited(3))
  }

  @Test(arguments: ["PIPE": SIGPIPE, "XFSZ": SIGXFSZ])
  func childDiesOfWhatOnlyWeIgnore(_ name: String, _ number: Int32) throws {
    let run = "exec $W run -q -- sh -c 'kill -\(name) $$; exit 3'"
    #expect(try shell(run).status == .signaled(number))
  }

  /// setrlimit(2): the file of the reports may not grow (RLIMIT_FSIZE).
  @Test func limitOnFilesEndsNobody() throws {
    let (output, status) = try shell(
      """
      f=/tmp/stallwatch-test-$$-limited; (ulimit -f 1; $W run --json -o $f -- sh -c 'sleep 0.2; exit 7' 2>&1)
      s=$?; wc -c <$f; rm $f; exit $s
      """)
    #expect(status == .exited(7))
    #expect(output.contains("cannot write a report: File too large") && output.hasSuffix("512"))
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

  @Test func pipeThatNobodyReadsIsRefused() throws {
    let (output, status) = try shell(
      "P=/tmp/stallwatch-test-fifo-$$; mkfifo $P; timeout -s KILL 5 $W run -o $P -- true 2>&1; s=$?; rm $P; exit $s"
    )
    #expect(status == .exited(125))
    #expect(output.contains("start the reader of the pipe first"))
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

  /// A full-screen program draws over whatever others write.
  @Test func nothingIsWrittenWhileTheTerminalIsRaw() throws {
    let screen = "stty -icanon; sleep 0.5; exec sh -c \\\"sleep 0.5; stty icanon; echo drawn\\\""
    let (output, status) = try shell(
      "script -qec \"$W run --threshold 100ms -- sh -c '\(screen)'\" /dev/null")
    // script(1) is not everywhere.
    guard status == .exited(0) else { return }
    let drawn = try #require(output.firstRange(of: "drawn"))
    let told = try #require(output.firstRange(of: "now runs"))
    #expect(drawn.upperBound <= told.lowerBound)
  }

  /// By version 1 or 2, whichever is there and lets us.
  @Test("PT-08: a frozen target is no stall, and a dump of it stops nobody") func frozenTargetIsNoStall()
    throws
  {
    guard let freezer = Freezer() else { return }
    let target = try TargetProcess.start("idle", "poll")
    defer { freezer.thaw() }
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)", "--threshold", "100ms"])
    _ = try watch.next("attach")
    try freezer.freeze(target.processID)
    #expect(try watch.next("notice", kind: "stopped.frozen")["text"]?.string?.hasPrefix("frozen") == true)
    var dump = try WatchRun(["dump", "--json", "--pid", "\(target.processID)"])
    let stack = try dump.next("dump")["stacks"]?.array.first?.object
    #expect(stack?["captured"]?.string == (isTaskIteratorExpected ? "task-iterator" : "syscall-file"))
    #expect(stack?.number("stopped_us") == 0)
    usleep(300_000)
    freezer.thaw()
    #expect(try watch.next("notice", kind: "stopped.frozen")["text"] == .string("it goes on"))
    watch.signal(SIGTERM)
    try watch.readToEnd()
    #expect(watch.records(of: "stall").isEmpty)
  }

  @Test("SW-05: a missing /proc is named") func missingProcIsNamed() throws {
    let (output, status) = try shell(
      "unshare -m true || exit 9; unshare -m sh -c \"umount -l /proc; $W --pid 1 2>&1\"")
    if status == .exited(9) { return print("skipped: no mount namespace is allowed") }
    #expect(output.hasPrefix("stallwatch: cannot read /proc"))
  }
}
