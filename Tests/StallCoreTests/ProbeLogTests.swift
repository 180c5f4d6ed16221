// Probes: what is counted, and what an answer tells of the loop.

import StallCore
import Testing

private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

private func log(_ exchanges: [(Int64, Int64)]) -> ProbeLog {
  var log = ProbeLog()
  for (sent, answered) in exchanges {
    log.send(at: at(sent))
    log.answer(at: at(answered))
  }
  return log
}

@Suite struct ProbeLogTests {
  @Test func percentilesAreAtMostASixteenthAboveTheTruth() throws {
    let log = log((1...1000).map { (0, Int64($0)) })
    #expect(log.answers == 1000 && log.longest == .milliseconds(1000))
    let median = try #require(log.percentile(50))
    #expect(median >= .milliseconds(500) && median <= .milliseconds(532))
    let high = try #require(log.percentile(99))
    #expect(high >= .milliseconds(990) && high <= .milliseconds(1000))
    #expect(ProbeLog().percentile(50) == nil)
  }

  @Test func extremeTimesAreCounted() throws {
    var log = log([(0, 0), (0, 400_000_000)])
    log.send(at: at(500_000_000))
    log.answer(at: at(0))
    #expect(log.answers == 3 && log.percentile(99) != nil)
  }

  @Test func failureIsNoAnswer() {
    var log = ProbeLog()
    log.send(at: at(0))
    log.fail()
    log.answer(at: at(10))
    #expect(log.answers == 0 && log.failures == 1 && log.facts.last == nil)
  }

  @Test func waitIsThatOfTheQuestionOfThatTime() {
    var log = log([(100, 900), (900, 901)])
    #expect(log.facts.wait(from: at(200), to: at(850), now: at(950)) == .answered(after: .milliseconds(800)))
    #expect(log.facts.wait(from: at(1000), to: at(1500), now: at(1500)) == nil)
    log.send(at: at(1100))
    #expect(
      log.facts.wait(from: at(1000), to: at(1500), now: at(2300)) == .unanswered(for: .milliseconds(1200)))
    #expect(log.facts.wait(from: at(200), to: at(850), now: at(2300)) == .answered(after: .milliseconds(800)))
  }

  @Test func answerIsAPassBetweenQuestionAndAnswer() throws {
    var script = LoopScript()
    var sight = ProbeSight()
    let before = script.look
    let sent = script.now + .milliseconds(10)
    script.run(.milliseconds(50))
    var log = ProbeLog()
    log.send(at: sent)
    log.answer(at: script.now)
    let seen = sight.passes(in: log.facts, at: script.look, after: before)
    let passes = try #require(seen)
    #expect(passes.source == .probe && passes.quietSince == nil)
    #expect(passes.lastPassAfter == sent && passes.lastPass == script.now && passes.firstPass == script.now)
    // At the next look that is known already.
    let then = script.look
    script.run(.milliseconds(50))
    let again = sight.passes(in: log.facts, at: script.look, after: then)
    let later = try #require(again)
    #expect(later.firstPass == nil && later.lastPass == passes.lastPass)
  }

  @Test func answerWhileTheThreadDidNotMoveIsOfAnother() {
    var script = LoopScript()
    var sight = ProbeSight()
    script.run(.milliseconds(1))
    script.block(in: SystemCallNumber.futex)
    let before = script.look
    script.wait(.milliseconds(10))
    var log = ProbeLog()
    log.send(at: script.now)
    script.wait(.milliseconds(10))
    log.answer(at: script.now)
    let passes = sight.passes(in: log.facts, at: script.look, after: before)
    #expect(passes == nil)
    #expect(sight.isOfAnother)
  }

  @Test func probeProvesNoStall() {
    var watched = Watched()
    watched.learnEpoll()
    watched.run(.milliseconds(800))
    watched.park()
    #expect(watched.stalls.allSatisfy { !$0.isVerified })
  }
}
