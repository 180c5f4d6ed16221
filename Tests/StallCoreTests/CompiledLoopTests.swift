// A loop whose home has no object of its own, and whose frames shrink when it is compiled.

import StallCore
import Testing

@Suite struct CompiledLoopTests {
  /// Waits to be woken from this depth, again and again, for 600 ms each time: on a condition, which alternates between
  /// two words.
  private func wait(
    _ watched: inout Watched, depth: UInt64, times: Int = 1, condition: UInt64 = 0x5008
  ) {
    for number in 0..<times {
      watched.script.run(.milliseconds(2))
      watched.script.block(in: SystemCallNumber.futex, condition + 4 * UInt64(number % 2), depth: depth)
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

  /// As a JVM was seen to do: one and the same loop, now compiled, now not.
  @Test("IDLE-01: a loop whose frames change back and forth does not stall")
  func loopThatIsCompiledAndNotAndAgain() {
    var watched = Watched()
    for round in 0..<60 {
      let depths: [UInt64] = [9200, 9024, 8992, 9200, 9120]
      wait(&watched, depth: depths[round % depths.count])
    }
    #expect(watched.stalls.isEmpty)
    #expect(watched.detector.loop.home?.visits ?? 0 > 40)
  }

  @Test("IDLE-01: a loop that is compiled no more waits from further in, and does not stall")
  func loopThatIsInterpretedAgain() {
    var watched = Watched()
    wait(&watched, depth: 9000, times: 10)
    wait(&watched, depth: 9656, times: 10)
    wait(&watched, depth: 9000, times: 10)
    #expect(watched.stalls.isEmpty)
  }

  /// A JVM has one futex for whatever a thread waits for.
  @Test("IDLE-05: a handler that waits for the loop's own futex is a stall", arguments: [848, 1744, 4000])
  func handlerThatWaitsForTheSameFutex(depth: UInt64) {
    var watched = Watched()
    wait(&watched, depth: 1000, times: 10)
    for _ in 0..<3 {
      wait(&watched, depth: 1000 + depth)
      wait(&watched, depth: 1000, times: 3)
    }
    #expect(watched.ended.count == 3)
    #expect(watched.ended.allSatisfy { $0.proof == .didNotMove })
  }

  @Test("IDLE-05: a handler that waits by the loop's own instruction for another lock is a stall")
  func handlerThatWaitsForAnotherLock() {
    var watched = Watched()
    wait(&watched, depth: 1000, times: 10)
    for depth in [1008, 1256, 900, 3000] as [UInt64] {
      wait(&watched, depth: depth, condition: 0x9000)
      wait(&watched, depth: 1000, times: 3)
    }
    #expect(watched.ended.count == 4)
  }
}
