// What the first stack says of a wait, against what the thread then does; and a home that a person has named.

import StallCore
import Testing

private typealias Call = SystemCallNumber

extension Watched {
  /// Says it of the wait that the last look found.
  fileprivate mutating func learn(_ meaning: WaitMeaning) {
    guard let site = detector.loop.presentWait?.site else { return }
    detector.learn(meaning, of: site)
  }

  fileprivate mutating func pollShortly(
    _ set: [Int32], depth: UInt64 = 0, for time: Duration = .milliseconds(200)
  ) {
    script.block(in: Call.poll, 0x5000, depth: depth, third: 5000, set: set)
    stay(time)
    script.run(.milliseconds(1))
  }
}

@Suite struct HomeHintTests {
  /// A poll that will time out is believed at once if the stack says that it is the loop's.
  @Test func waitOfAKnownLoopIsBelievedAtOnce() {
    var watched = Watched()
    watched.run(.milliseconds(100))
    watched.script.block(in: Call.poll, 0x5000, third: 5000, set: [3])
    watched.look()
    #expect(!watched.detector.loop.isJudgeable)
    watched.learn(.loop)
    #expect(watched.detector.loop.isJudgeable)
    watched.stay(.milliseconds(200))
    watched.script.run(.milliseconds(1))
    watched.script.block(in: Call.clockNanosleep, depth: 4000)
    watched.stay(.milliseconds(800))
    #expect(watched.stalls.first?.proof == .didNotMove)
  }

  /// Attached while it waits for a database: the first poll is not home, and not judged either.
  @Test func waitThatIsWorkIsNoHome() {
    var watched = Watched()
    watched.script.block(in: Call.poll, 0x6000, depth: 4000, set: [9])
    watched.look()
    watched.learn(.work)
    watched.stay(.seconds(5))
    #expect(!watched.detector.loop.isJudgeable)
    watched.script.run(.milliseconds(1))
    watched.learnEpoll()
    #expect(watched.detector.loop.home?.site.kind == .epoll)
    watched.script.block(in: Call.poll, 0x6000, depth: 4000, set: [9])
    watched.stay(.milliseconds(800))
    #expect(!watched.stalls.isEmpty)
  }

  @Test func knownLoopTakesThePlaceOfAnUnknownHome() {
    var watched = Watched()
    for _ in 0..<4 { watched.pollShortly([9]) }
    watched.pollShortly([3, 4])
    #expect(watched.detector.loop.home?.core == DescriptorSet([9]))
    watched.script.block(in: Call.poll, 0x5000, set: [3, 4])
    watched.look()
    watched.learn(.loop)
    #expect(watched.detector.loop.home?.core == DescriptorSet([3, 4]))
  }

  /// A wrong "loop" does not stick: the thread comes back elsewhere for half a minute.
  @Test func wrongLoopLosesAgainstExperience() {
    var watched = Watched()
    watched.script.block(in: Call.epollWait, 9)
    watched.look()
    watched.learn(.loop)
    watched.script.run(.milliseconds(1))
    for _ in 0..<80 {
      watched.script.block(in: Call.epollWait, 5)
      watched.stay(.milliseconds(500))
      watched.script.run(.milliseconds(1))
    }
    #expect(watched.detector.loop.home?.site.multiplexer == .epoll(descriptor: 5))
    let before = watched.stalls.count
    watched.learn(.loop)
    watched.script.block(in: Call.epollWait, 5)
    watched.stay(.seconds(20))
    #expect(watched.stalls.count == before)
  }

  /// A wrong "work" does not stick either: it is all that the thread ever waits in.
  @Test func wrongWorkLosesAgainstExperience() {
    var watched = Watched()
    for round in 0..<80 {
      watched.script.block(in: Call.epollWait, 5)
      watched.stay(.milliseconds(500))
      if round == 0 { watched.learn(.work) }
      watched.script.run(.milliseconds(1))
    }
    #expect(watched.detector.loop.isJudgeable)
    #expect(watched.stalls.isEmpty)
  }

  /// The answer of a display server comes through the same socket as the events.
  @Test func workOnTheLoopsOwnDescriptorIsWork() {
    var watched = Watched()
    for _ in 0..<4 { watched.pollShortly([3]) }
    watched.script.block(in: Call.poll, 0x5000, set: [3])
    watched.look()
    watched.learn(.loop)
    watched.script.run(.milliseconds(1))
    watched.script.block(in: Call.poll, 0x4000, depth: 9000, set: [3])
    watched.look()
    #expect(watched.detector.isSettled)
    watched.learn(.work)
    watched.stay(.milliseconds(800))
    #expect(watched.stalls.first?.proof == .didNotMove)
    #expect((watched.stalls.first?.duration.atLeast ?? .zero) >= .milliseconds(500))
  }

  /// … unless it comes back from there for half a minute and waits nowhere else.
  @Test func placeThatIsAllThereIsIsNoWork() {
    var watched = Watched()
    for _ in 0..<4 { watched.pollShortly([3]) }
    for round in 0..<90 {
      watched.pollShortly([3], depth: 9000, for: .milliseconds(450))
      if round == 0 {
        watched.script.block(in: Call.poll, 0x5000, depth: 9000, third: 5000, set: [3])
        watched.look()
        watched.learn(.work)
        watched.script.run(.milliseconds(1))
      }
    }
    let before = watched.actions.count
    watched.pollShortly([3], depth: 9000, for: .seconds(5))
    #expect(watched.actions.count == before)
  }

  @Test("IDLE-06: a dialog that is known as the loop's is parked, also where a stack said work elsewhere")
  func dialogIsParked() {
    var watched = Watched()
    for _ in 0..<4 { watched.pollShortly([3, 4]) }
    watched.learn(.loop)
    for _ in 0..<20 {
      watched.script.block(in: Call.poll, 0x4000, depth: 9000, set: [3, 4])
      watched.look()
      watched.learn(.loop)
      watched.stay(.seconds(1))
      watched.script.run(.milliseconds(1))
    }
    #expect(watched.stalls.isEmpty)
  }
}

@Suite struct HomeQuestionTests {
  @Test func placeIsAskedAboutOnce() {
    var watched = Watched()
    var questions = HomeQuestions()
    watched.park()
    let first = questions.next(in: watched.detector.loop, at: watched.script.now)
    #expect(first?.multiplexer == .epoll(descriptor: 5))
    #expect(questions.next(in: watched.detector.loop, at: watched.script.now) == nil)
    if let first { questions.takeBack(first) }
    #expect(questions.next(in: watched.detector.loop, at: watched.script.now) != nil)
  }

  @Test func manyPlacesAreAskedAboutEverMoreSeldom() {
    var watched = Watched()
    var questions = HomeQuestions()
    var asked: [Instant] = []
    for round in 0..<20_000 {
      watched.script.block(in: Call.clockNanosleep, depth: UInt64(round % 1000) * 1000)
      watched.script.wait(.milliseconds(100))
      watched.look()
      if questions.next(in: watched.detector.loop, at: watched.script.now) != nil {
        asked.append(watched.script.now)
      }
      watched.script.run(.milliseconds(1))
    }
    #expect(asked.count > 4)
    #expect(asked.filter { $0 - asked[0] < .seconds(60) }.count <= 6)
    #expect(asked.count < 12)
  }

  @Test func nothingIsAskedAboutWaitsThatCannotBeSeen() {
    var watched = Watched()
    var questions = HomeQuestions()
    watched.script.block(by: .epoll)
    watched.look()
    #expect(questions.next(in: watched.detector.loop, at: watched.script.now) == nil)
  }
}

@Suite struct GivenHomeTests {
  private func watched(_ home: String) -> Watched {
    var watched = Watched()
    watched.detector = StallDetector(
      threshold: .milliseconds(500), interval: nil, home: HomeSelector(home))
    return watched
  }

  @Test func otherWaitsAreWorkHoweverTheyBehave() {
    var watched = watched("sleep")
    watched.script.block(in: Call.clockNanosleep)
    watched.stay(.seconds(2))
    watched.script.run(.milliseconds(1))
    #expect(watched.stalls.isEmpty)
    for _ in 0..<100 {
      watched.script.block(in: Call.epollWait, 5)
      watched.stay(.milliseconds(600))
      watched.script.run(.milliseconds(1))
    }
    #expect(watched.ended.isEmpty && !watched.stalls.isEmpty)
    watched.script.block(in: Call.clockNanosleep)
    watched.look()
    #expect(watched.ended.count == 1)
  }

  @Test func nothingIsJudgedBeforeItIsSeen() {
    var watched = watched("epoll:9")
    watched.learnEpoll()
    watched.learnEpoll()
    watched.stay(.seconds(30))
    #expect(watched.stalls.isEmpty && !watched.detector.loop.isJudgeable)
  }

  @Test func hintsDoNotCount() {
    var watched = watched("epoll:5")
    watched.park()
    watched.learn(.work)
    watched.stay(.seconds(5))
    #expect(watched.stalls.isEmpty && watched.detector.loop.isJudgeable)
  }

  @Test func kindIsEnoughWhereOnlyKindsAreSeen() {
    var watched = watched("epoll:5")
    watched.script.block(by: .epoll)
    watched.stay(.seconds(2))
    watched.script.run(.milliseconds(1))
    watched.script.block(by: .sleep)
    watched.stay(.milliseconds(800))
    #expect(watched.stalls.count == 1)
  }
}
