// A loop whose home has no object of its own, and whose frames shrink when it is compiled.

import StallCore
import Testing

@Suite struct CompiledLoopTests {
  /// Waits to be woken from this depth, again and again, for 600 ms each time.
  private func wait(_ watched: inout Watched, depth: UInt64, times: Int) {
    for _ in 0..<times {
      watched.script.run(.milliseconds(2))
      watched.script.block(in: SystemCallNumber.futex, depth: depth)
      watched.stay(.milliseconds(600))
    }
  }

  @Test("IDLE-01: a loop that is compiled while it runs waits from further out, and does not stall")
  func loopThatIsCompiled() {
    var watched = Watched()
    wait(&watched, depth: 9000, times: 10)
    wait(&watched, depth: 4000, times: 10)
    wait(&watched, depth: 1000, times: 10)
    #expect(watched.stalls.isEmpty)
  }

  @Test("IDLE-05: the same wait from further in is a handler's, and a stall")
  func handlerThatWaits() {
    var watched = Watched()
    wait(&watched, depth: 1000, times: 10)
    watched.script.run(.milliseconds(2))
    watched.script.block(in: SystemCallNumber.futex, depth: 9000)
    watched.stay(.milliseconds(800))
    wait(&watched, depth: 1000, times: 3)
    #expect(watched.ended.count == 1)
  }
}
