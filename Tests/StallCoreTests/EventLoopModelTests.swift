// Finding the loop: what counts as parked, and what as work.

import StallCore
import Testing

private typealias Call = SystemCallNumber

@Suite struct EventLoopModelTests {
  /// A program that idles in one call is parked or unknown, never at work.
  @Test(arguments: [
    Call.epollWait, Call.epollPwait, Call.epollPwait2, Call.read, Call.accept, Call.recvmsg, Call.recvfrom,
    Call.msgrcv,
    Call.rtSigtimedwait, Call.rtSigsuspend, Call.pause, Call.futex, Call.nanosleep, Call.wait4,
    Call.semtimedop,
    Call.mqTimedreceive, Call.ioGetevents,
  ])
  func idleInOneCallIsNoStall(_ number: Int) {
    var watched = Watched()
    watched.script.block(in: number, 3)
    watched.stay(.seconds(60))
    #expect(watched.stalls.isEmpty)
  }

  @Test(arguments: [
    Call.epollWait, Call.read, Call.accept, Call.recvmsg, Call.msgrcv, Call.rtSigtimedwait, Call.futex,
    Call.nanosleep,
    Call.wait4,
  ])
  func anyCallToWhichTheThreadReturnsIsAHome(_ number: Int) {
    var watched = Watched()
    for _ in 0..<30 {
      watched.script.block(in: number, 3)
      watched.stay(.milliseconds(900))
      watched.script.run(.milliseconds(1))
    }
    #expect(watched.stalls.isEmpty)
    watched.script.run(.milliseconds(1))
    watched.script.block(in: Call.connect, 9, depth: 3000)
    watched.stay(.milliseconds(800))
    #expect(watched.stalls.count == 1)
  }

  @Test func pollSetIsKnownByItsCore() {
    var watched = Watched()
    let sets: [[Int32]] = [[3, 4, 5], [3, 4, 5, 9, 10, 11], [3, 5, 20], [3, 5]]
    for round in 0..<40 {
      watched.script.block(in: Call.poll, 0x5000 + UInt64(round), set: sets[round % 4])
      watched.stay(.milliseconds(700))
      watched.script.run(.milliseconds(1))
    }
    #expect(watched.stalls.isEmpty)
    #expect(watched.detector.loop.home?.core == DescriptorSet([3, 5]))
  }

  @Test func pollOnOtherDescriptorsIsWork() {
    var watched = Watched()
    for _ in 0..<4 {
      watched.script.block(in: Call.poll, 0x5000, set: [3, 4])
      watched.stay(.milliseconds(100))
      watched.script.run(.milliseconds(1))
    }
    watched.script.block(in: Call.poll, 0x6000, depth: 4000, third: 5000, set: [17])
    watched.stay(.milliseconds(800))
    #expect(watched.stalls.first?.proof == .didNotMove)
  }

  /// A modal dialog: the same descriptors, from a deeper stack.
  @Test func nestedWaitOnTheSameDescriptorsIsParked() {
    var watched = Watched()
    for _ in 0..<4 {
      watched.script.block(in: Call.poll, 0x5000, set: [3, 4])
      watched.stay(.milliseconds(100))
      watched.script.run(.milliseconds(1))
    }
    for _ in 0..<20 {
      watched.script.block(in: Call.poll, 0x4000, depth: 9000, set: [3, 4])
      watched.stay(.seconds(1))
      watched.script.run(.milliseconds(1))
    }
    #expect(watched.stalls.isEmpty)
  }

  /// A synchronous child process in an event loop: a loop of its own, on another epoll.
  @Test func nestedWaitOnAnotherMultiplexerIsWork() {
    var watched = Watched()
    watched.learnEpoll()
    for _ in 0..<10 {
      watched.script.block(in: Call.epollWait, 18, depth: 9000)
      watched.stay(.milliseconds(300))
      watched.script.run(.milliseconds(1))
    }
    #expect(!watched.stalls.isEmpty)
  }

  /// A name look-up on the way to the loop must not become its home.
  @Test func firstPollWithTimeoutIsNotBelieved() {
    var watched = Watched()
    watched.run(.milliseconds(100))
    watched.script.block(in: Call.poll, 0x6000, depth: 4000, third: 5000, set: [9])
    watched.stay(.seconds(2))
    watched.script.run(.milliseconds(1))
    watched.script.block(in: Call.epollWait, 5)
    watched.stay(.seconds(20))
    watched.script.run(.milliseconds(1))
    watched.script.block(in: Call.epollWait, 5)
    watched.stay(.seconds(20))
    #expect(watched.stalls.isEmpty)
  }

  /// `work(); sleep(1)` where the work polls a database: the sleep, further out, is the home.
  @Test func sleepLoopWithShortPollsIsIdle() {
    var watched = Watched()
    for round in 0..<40 {
      watched.script.block(in: Call.clockNanosleep)
      watched.stay(.seconds(1))
      watched.script.run(.milliseconds(1))
      if round > 5 {
        watched.script.block(in: Call.poll, 0x6000, depth: 4000, third: 5000, set: [9])
        watched.stay(.milliseconds(50))
        watched.script.run(.milliseconds(1))
      }
    }
    #expect(watched.stalls.isEmpty)
  }

  /// `watch date`: it reads from a child in turn with a sleep, and whichever was seen first, the sleep is the home.
  @Test(arguments: [0, 4])
  func sleepLoopThatReadsFromAChildIsIdle(readsBefore: Int) {
    var watched = Watched()
    for _ in 0..<readsBefore {
      watched.script.block(in: Call.read, 3)
      watched.stay(.milliseconds(50))
      watched.script.run(.milliseconds(1))
    }
    for _ in 0..<20 {
      watched.script.block(in: Call.clockNanosleep)
      watched.stay(.milliseconds(450))
      watched.script.run(.milliseconds(1))
      watched.script.block(in: Call.read, 3)
      watched.stay(.milliseconds(100))
      watched.script.run(.milliseconds(1))
    }
    watched.script.block(in: Call.clockNanosleep)
    watched.stay(.seconds(2))
    #expect(watched.stalls.isEmpty)
  }

  /// … and where it reads what others send and then sleeps a little, the reading is.
  @Test func readLoopWithShortSleepsIsIdle() {
    var watched = Watched()
    for _ in 0..<20 {
      watched.script.block(in: Call.clockNanosleep)
      watched.stay(.milliseconds(100))
      watched.script.run(.milliseconds(1))
      watched.script.block(in: Call.read, 3)
      watched.stay(.milliseconds(450))
      watched.script.run(.milliseconds(1))
    }
    watched.script.block(in: Call.read, 3)
    watched.stay(.seconds(2))
    #expect(watched.stalls.isEmpty)
  }

  @Test func oneLoopAfterTheOther() {
    var watched = Watched()
    watched.learnEpoll()
    for _ in 0..<200 {
      watched.script.block(in: Call.epollWait, 8)
      watched.stay(.milliseconds(200))
      watched.script.run(.milliseconds(1))
    }
    let before = watched.stalls.count
    watched.script.block(in: Call.epollWait, 8)
    watched.stay(.seconds(10))
    #expect(watched.stalls.count == before)
    #expect(watched.detector.loop.home?.site.multiplexer == .epoll(descriptor: 8))
  }

  @Test func restartedCallContinuesItsSite() {
    var watched = Watched()
    watched.learnEpoll()
    watched.script.block(in: Call.clockNanosleep, depth: 2000)
    watched.stay(.milliseconds(600))
    watched.script.showAsRestarted()
    watched.stay(.milliseconds(600))
    #expect(Set(watched.stalls.map(\.id)).count == 1)
  }

  @Test func restartedCallIsKnownByItsFirstName() {
    var script = LoopScript()
    let model = EventLoopModel()
    script.block(in: SystemCallNumber.clockNanosleep)
    let slept = script.look
    _ = model.observe(slept)
    script.showAsRestarted()
    let restarted = script.look
    #expect(restarted.activity != slept.activity)
    #expect(model.naming(restarted).activity == slept.activity)
    #expect(EventLoopModel().naming(restarted).activity == restarted.activity)
  }

  @Test func restartedCallOfUnknownKindIsNotJudged() {
    var watched = Watched()
    watched.script.block(in: Call.poll, 0x5000, set: [3])
    watched.script.showAsRestarted()
    watched.stay(.seconds(10))
    #expect(watched.stalls.isEmpty)
  }

  @Test func sleepsWithoutDescriptorsAreSleeps() throws {
    let call = BlockedCall(
      number: Call.poll, arguments: InlineArguments(0, 0, 100), stackPointer: 1, programCounter: 2)
    #expect(try #require(Site(call, descriptors: nil)).kind == .sleep)
  }

  @Test func ringThatSubmitsOnlyIsNoSite() {
    let call = BlockedCall(
      number: Call.ioUringEnter, arguments: InlineArguments(4, 8, 0, 0), stackPointer: 1, programCounter: 2)
    #expect(Site(call, descriptors: nil) == nil)
  }

  /// The descriptors of one wait could not be read (the helper was late): that is no other multiplexer.
  @Test(arguments: [UInt64(0), 96])
  func pollWhoseDescriptorsCannotBeReadIsNotWork(depth: UInt64) {
    var watched = Watched()
    for round in 0..<20 {
      let isReadable = round % 5 != 4
      watched.script.block(
        in: Call.poll, 0x5000, depth: isReadable ? 0 : depth, set: isReadable ? [3, 4] : nil, count: 2)
      watched.stay(.milliseconds(900))
      watched.script.run(.milliseconds(1))
    }
    #expect(watched.stalls.isEmpty)
    #expect(watched.detector.loop.home?.core == DescriptorSet([3, 4]))
  }

  /// The first read came too early, the next one knows the descriptors: still the same home.
  @Test(arguments: [UInt64(0), 96, 9000])
  func homeIsKnownByItsDescriptorsOnceTheyCanBeRead(depth: UInt64) {
    var watched = Watched()
    watched.script.block(in: Call.poll, 0x5000, count: 2)
    watched.stay(.seconds(10))
    for _ in 0..<5 {
      watched.script.run(.milliseconds(1))
      watched.script.block(in: Call.poll, 0x5000, depth: depth, third: 1000, set: [3, 4])
      watched.stay(.milliseconds(900))
    }
    #expect(watched.stalls.isEmpty)
    #expect(watched.detector.loop.home?.core == DescriptorSet([3, 4]))
  }

  @Test func continuedCallIsNamed() {
    var watched = Watched()
    watched.learnEpoll()
    watched.script.block(in: Call.clockNanosleep, depth: 2000)
    watched.stay(.milliseconds(100))
    let before = watched.script.look
    watched.script.showAsRestarted()
    watched.stay(.milliseconds(100))
    #expect(watched.script.look.activity != before.activity)
    #expect(watched.detector.loop.naming(watched.script.look).activity == before.activity)
  }
}
