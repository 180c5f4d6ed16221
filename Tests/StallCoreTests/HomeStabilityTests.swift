// A home that was found stays the home, whatever callbacks wait for.

import StallCore
import Testing

private typealias Call = SystemCallNumber

@Suite struct HomeStabilityTests {
  /// A callback that waits in a loop of its own, on another multiplexer, from about the same depth or even further out.
  @Test(arguments: [UInt64(80), 288, 13_000], [Call.epollWait, Call.poll])
  func loopInACallbackIsNotTakenForTheLoop(depth: UInt64, nested: Int) {
    var watched = Watched()
    func park(_ watched: inout Watched) {
      watched.script.block(in: Call.poll, 0x5000, depth: 12_900, set: [3, 4])
      watched.stay(.milliseconds(150))
      watched.script.run(.milliseconds(1))
    }
    for _ in 0..<6 { park(&watched) }
    for _ in 0..<6 {
      for _ in 0..<5 {
        watched.script.block(
          in: nested, 8, depth: 12_900 + 80 - depth % 12_980, set: nested == Call.poll ? [17] : nil)
        watched.stay(.milliseconds(1500))
        watched.script.run(.milliseconds(1))
      }
      for _ in 0..<2 { park(&watched) }
      #expect(watched.detector.loop.home?.core == DescriptorSet([3, 4]))
    }
    #expect(watched.ended.count >= 6)
    #expect(watched.stalls.allSatisfy { $0.duration.likely < .seconds(9) })
  }

  /// A home that was given up by mistake is taken back when the thread comes back to it.
  @Test func formerHomeIsTakenBack() {
    var watched = Watched()
    watched.learnEpoll()
    watched.learnEpoll()
    for _ in 0..<8 {
      watched.script.block(in: Call.epollWait, 9, depth: 100)
      watched.stay(.seconds(6))
      watched.script.run(.milliseconds(1))
    }
    watched.script.block(in: Call.epollWait, 5)
    watched.stay(.seconds(3))
    #expect(watched.detector.loop.home?.site.multiplexer == .epoll(descriptor: 5))
    #expect(watched.ended.allSatisfy { $0.duration.likely < .seconds(50) })
  }

  /// Under full load the loop is never seen to park, and what its callbacks wait for is seen again and again.
  @Test func loopThatPassesKeepsItsHome() {
    var watched = Watched.withBreakpoint(shots: 16)
    for _ in 0..<3000 {
      watched.script.pass()
      watched.proceed(.milliseconds(9), running: true)
      watched.script.block(in: Call.read, 7, depth: 3000)
      watched.proceed(.milliseconds(11), running: false)
      watched.script.run(.microseconds(10))
    }
    #expect(watched.detector.loop.home?.site.multiplexer == .epoll(descriptor: 5))
    #expect(watched.stalls.isEmpty)
  }

  /// Seen to park but once, before it had something to do all the time.
  @Test func loopThatWasSeenToParkOnceKeepsItsHomeByItsPasses() {
    var watched = Watched()
    watched.script.block(in: Call.poll, 0x5000, set: [3, 4])
    watched.stay(.milliseconds(300))
    watched.armBreakpoint(shots: 16)
    for round in 0..<200 {
      watched.script.pass()
      watched.proceed(.milliseconds(20), running: true)
      guard round % 40 == 39 else { continue }
      for _ in 0..<5 {
        watched.script.block(in: Call.epollWait, 8, depth: 80)
        watched.proceed(.milliseconds(100), running: false)
        watched.script.run(.microseconds(50))
      }
    }
    #expect(watched.detector.loop.home?.core == DescriptorSet([3, 4]))
  }
}
