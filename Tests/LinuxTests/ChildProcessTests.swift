// Starting and ending processes of our own.

import Glibc
import Linux
import TestSupport
import Testing

@Suite struct ChildProcessTests {
  @Test func endsWithItsValue() throws {
    let processID: Int32
    do {
      let target = try TargetProcess.start("pause")
      processID = target.processID
      #expect(kill(processID, 0) == 0)
    }
    #expect(kill(processID, 0) == -1)
  }

  @Test func saysHowItEnded() throws {
    var target = try TargetProcess.start("pause")
    let wasAlive = target.isAlive()
    #expect(wasAlive)
    target.signal(SIGTERM)
    let ending = try target.waitForExit()
    #expect(ending == .signaled(SIGTERM))
    var failing = try TargetProcess(path: "/bin/sh", arguments: ["-c", "exit 7"])
    let code = try failing.waitForExit()
    #expect(code == .exited(7))
  }

  /// Its starter waits for its exec, so a stop before that would stop both for good.
  @Test func helperIsNotStoppedByATerminal() throws {
    var child = try ChildProcess(
      path: "/bin/sh", arguments: ["-c", "kill -TTIN $$; kill -TSTP $$; exit 4"], descriptors: [-1, -1, 2],
      ownGroup: true)
    var ending: Linux.ExitStatus?
    let hasEnded = try eventually { () throws(Errno) in
      ending = try child.wait(block: false)
      return ending != nil
    }
    #expect(hasEnded && ending == .exited(4))
  }

  @Test func hasOnlyTheDescriptorsItWasGiven() throws {
    let inheritable = dup2(2, 200)
    defer { close(inheritable) }
    var listing = try TargetProcess(path: "/bin/ls", arguments: ["/proc/self/fd"])
    // 3 is the directory that `ls` itself has open.
    for expected in ["0", "1", "2", "3"] {
      let line = try listing.readLine()
      #expect(line == expected)
    }
    let nextLine = try? listing.readLine()
    #expect(nextLine == nil)
  }
}
