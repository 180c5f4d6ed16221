// What a process in the sandbox can and cannot do.

import Linux
import TestSupport
import Testing

@Suite struct SandboxTests {
  @Test func nothingIsLeftButComputingAndTheDoor() throws {
    var program = try TargetProcess(path: builtProduct("TestSandbox"), arguments: [])
    var said: [String] = []
    while let line = try? program.readLine() { said.append(line) }
    #expect(
      said == [
        "every limit done", "open of what the door gives done", "open of another file refused",
        "open for writing refused", "socket refused", "kill refused",
        "kill of a thread refused", "signals of files refused", "ptrace refused",
        "executable memory refused", "memory done", "removing a file refused",
      ])
    #expect(try program.waitForExit() == .exited(0))
  }
}
