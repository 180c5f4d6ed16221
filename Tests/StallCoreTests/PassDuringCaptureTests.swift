// What the loop does while a capture is made is not overlooked.

import StallCore
import Testing

private typealias Call = SystemCallNumber

@Suite struct PassDuringCaptureTests {
  /// Between the look and the one right after the capture the loop comes round.
  @Test func passDuringACaptureIsNotOverlooked() throws {
    var watched = Watched.withBreakpoint(shots: 16)
    watched.park()
    watched.proceed(.seconds(1), running: false)
    watched.proceed(.milliseconds(300), running: true)
    watched.script.run(.milliseconds(2))
    watched.script.pass()
    let start = watched.script.now
    watched.script.run(.milliseconds(4))
    watched.detector.absorbCapture(watched.script.look)
    watched.proceed(.milliseconds(596), running: true)
    watched.script.pass()
    watched.proceed(.milliseconds(60), running: true)
    let ended = try #require(watched.ended.first)
    #expect(ended.startedAt == start && ended.duration.atMost == .milliseconds(600))
  }

  /// We got no CPU between a capture and the look after it: the thread has ended its work, parked, and been woken.
  @Test func parkDuringACaptureIsNotOverlooked() throws {
    var watched = Watched.withBreakpoint(shots: 16)
    watched.park()
    watched.proceed(.seconds(1), running: false)
    watched.proceed(.milliseconds(300), running: true)
    watched.script.run(.milliseconds(1))
    watched.script.block(in: Call.epollWait, 5)
    watched.script.wait(.milliseconds(400))
    watched.script.run(.microseconds(20))
    watched.detector.absorbCapture(watched.script.look)
    watched.proceed(.microseconds(100), running: true)
    watched.look()
    watched.script.pass()
    watched.proceed(.milliseconds(10), running: true)
    watched.park()
    #expect(watched.actions.isEmpty)
  }

  /// Meanwhile it came round, and waits for the same lock at the same place again. The block is the proof where the
  /// breakpoint was armed only within it.
  @Test(arguments: [true, false]) func passBeforeTheLookAfterACaptureEndsTheStall(isArmedBefore: Bool) throws
  {
    var watched = Watched()
    watched.learnEpoll()
    if isArmedBefore { watched.armBreakpoint(shots: 16) }
    watched.park()
    watched.proceed(.seconds(1), running: false)
    watched.script.run(.milliseconds(1))
    watched.script.block(in: Call.futex, depth: 2000)
    watched.proceed(.milliseconds(100), running: false)
    if !isArmedBefore { watched.armBreakpoint(shots: 16) }
    watched.proceed(.milliseconds(420), running: false)
    #expect(watched.actions.count == 1)
    watched.script.run(.microseconds(100))
    watched.script.pass()
    let end = watched.script.now
    watched.script.run(.microseconds(100))
    watched.script.block(in: Call.futex, depth: 2000)
    watched.script.wait(.milliseconds(3))
    watched.detector.absorbCapture(watched.script.look)
    watched.proceed(.milliseconds(600), running: false)
    watched.script.run(.microseconds(100))
    watched.park()
    let ended = watched.ended
    #expect(ended.count == 2)
    #expect(try #require(ended.first).duration.atLeast <= end - ended[0].startedAt)
    #expect(ended[0].proof == (isArmedBefore ? .breakpoint : .didNotMove))
    #expect(ended[1].startedAt == end)
  }
}
