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
