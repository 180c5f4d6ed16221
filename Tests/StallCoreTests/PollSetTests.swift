// A poll of one of the loop's descriptors alone: an answer that is waited for, or what is left of the loop's set.

import StallCore
import Testing

private typealias Call = SystemCallNumber

@Suite struct PollSetTests {
  /// Xlib waits for an answer of the server, whose socket is also in the loop's set; Ruby sleeps in a poll of a
  /// descriptor of its loop, from a stack that is not as deep.
  @Test(arguments: [4000, 9000])
  func pollOnOneOfTheDescriptorsFromElsewhereIsWork(_ depth: UInt64) {
    var watched = Watched()
    for _ in 0..<3 {
      watched.idleInSets([[3, 4, 6], [3, 4]], depth: 6000)
      watched.script.block(in: Call.poll, 0x6000, depth: depth, set: [3])
      watched.stay(.milliseconds(800))
      watched.script.run(.milliseconds(1))
    }
    watched.idleInSets([[3, 4, 6]], depth: 6000)
    #expect(watched.ended.map(\.proof) == [.didNotMove, .didNotMove, .didNotMove])
    #expect(watched.detector.loop.home?.core == DescriptorSet([3, 4]))
  }

  /// The same while the program starts: the loop's own set is learned all the same.
  @Test func pollOnOneDescriptorBeforeTheLoopIsNotItsCore() {
    var watched = Watched()
    for _ in 0..<4 {
      watched.script.block(in: Call.poll, 0x6000, depth: 9000, set: [3])
      watched.stay(.milliseconds(100))
      watched.script.run(.milliseconds(1))
    }
    watched.idleInSets([[3, 4, 6]], depth: 2000)
    #expect(watched.detector.loop.home?.core == DescriptorSet([3, 4, 6]))
    watched.script.block(in: Call.poll, 0x6000, depth: 9000, set: [3])
    watched.stay(.milliseconds(800))
    #expect(watched.stalls.first?.proof == .didNotMove)
  }

  /// All others were closed: the loop goes on with the one that is left, from where it always was.
  @Test func setThatShrinksToOneDescriptorIsTheSame() {
    var watched = Watched()
    watched.idleInSets([[3, 4, 6], [3, 4], [3]], depth: 2000)
    watched.script.block(in: Call.poll, 0x5000, depth: 2000, set: [3])
    watched.stay(.seconds(5))
    #expect(watched.stalls.isEmpty)
  }
}
