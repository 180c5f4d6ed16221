// For how much of the time between two looks the samples and blocks of a thread stand.

import StallCore
import Testing

/// A thread whose looks are written down as what happened since the last one, in milliseconds.
private struct Looks {
  private(set) var look = ThreadObservation(
    at: Instant(nanoseconds: 1_000_000_000), state: .running, activity: .running, cpuTime: .zero,
    runQueueDelay: .zero, timesScheduled: 1, voluntarySwitches: 0)

  /// Blocked at this place now; nil: it runs.
  mutating func after(
    _ passed: Int, ran: Int = 0, waited: Int = 0, sleeps: UInt64 = 0, in place: UInt64? = nil
  ) -> ThreadObservation {
    look.at = look.at + .milliseconds(passed)
    look.cpuTime += .milliseconds(ran)
    look.runQueueDelay += .milliseconds(waited)
    look.voluntarySwitches += sleeps
    if ran + waited > 0 || sleeps > 0 || place == nil && look.isBlocked { look.timesScheduled += 1 }
    look.activity =
      place.map {
        .blocked(
          BlockedCall(number: 0, arguments: InlineArguments($0), stackPointer: 0x7000, programCounter: 0x1000)
        )
      } ?? .running
    look.state = place == nil ? .running : .sleeping
    return look
  }
}

private func time(each: Int = 0, here: Int = 0, before: Int = 0, unseen: Int = 0) -> SampledTime {
  var time = SampledTime()
  (time.eachSample, time.here) = (.milliseconds(each), .milliseconds(here))
  (time.before, time.unseen) = (.milliseconds(before), .milliseconds(unseen))
  return time
}

@Suite struct SampleClockTests {
  private func start() -> (Looks, SampleClock) {
    let looks = Looks()
    return (looks, SampleClock(from: looks.look))
  }

  @Test func timeOnACPUIsSharedByTheSamplesThatCame() {
    var (looks, clock) = start()
    #expect(clock.advance(to: looks.after(50, ran: 50), samples: 5) == time(each: 10))
    #expect(clock.advance(to: looks.after(50, ran: 20, waited: 30), samples: 2) == time(each: 25))
  }

  @Test func timeWithoutASampleBelongsToTheNextOne() {
    var (looks, clock) = start()
    #expect(clock.advance(to: looks.after(50, ran: 50), samples: 0) == time())
    #expect(clock.unsampled == .milliseconds(50))
    #expect(clock.advance(to: looks.after(50, ran: 50), samples: 10) == time(each: 10))
    #expect(clock.unsampled == .zero)
  }

  @Test func lostSamplesAreTimeThatNobodySaw() {
    var (looks, clock) = start()
    #expect(clock.advance(to: looks.after(100, ran: 100), samples: 6, lost: 4) == time(each: 10, unseen: 40))
    #expect(clock.advance(to: looks.after(100, ran: 100), samples: 0, lost: 4) == time(each: 25, unseen: 100))
  }

  @Test func blockThatDidNotEndIsOneStack() {
    var (looks, clock) = start()
    #expect(
      clock.advance(to: looks.after(50, ran: 10, sleeps: 1, in: 3), samples: 1) == time(each: 10, here: 40))
    let next = looks.after(50, in: 3)
    #expect(clock.isInSameBlock(next))
    #expect(clock.advance(to: next, samples: 0) == time(here: 50))
    #expect(clock.advance(to: looks.after(5_000, in: 3), samples: 0) == time(here: 5_000))
  }

  @Test func timeBeforeAWakeUpBelongsToTheBlockThatEnded() {
    var (looks, clock) = start()
    _ = clock.advance(to: looks.after(50, sleeps: 1, in: 3), samples: 0)
    #expect(clock.advance(to: looks.after(50, ran: 20), samples: 2) == time(each: 10, before: 30))
  }

  @Test func ofTwoBlocksTheSecondBeganWhenTheKernelSays() {
    var (looks, clock) = start()
    _ = clock.advance(to: looks.after(50, sleeps: 1, in: 3), samples: 0)
    let next = looks.after(50, ran: 10, sleeps: 1, in: 4)
    #expect(!clock.isInSameBlock(next))
    let since = next.at - .milliseconds(15)
    #expect(clock.advance(to: next, blockedSince: since, samples: 1) == time(each: 10, here: 15, before: 25))
  }

  @Test func sleepsThatNoLookSawAreNobodys() {
    var (looks, clock) = start()
    _ = clock.advance(to: looks.after(50, sleeps: 1, in: 3), samples: 0)
    #expect(
      clock.advance(to: looks.after(50, ran: 10, sleeps: 5, in: 4), samples: 1) == time(each: 10, unseen: 40))
    #expect(clock.advance(to: looks.after(50, ran: 10, sleeps: 3), samples: 1) == time(each: 10, unseen: 40))
  }

  @Test func whereALoopParksIsNoPartOfTheStall() {
    var (looks, clock) = start()
    _ = clock.advance(to: looks.after(50, ran: 50), samples: 5)
    let end = looks.look.at + .milliseconds(20)
    let park = looks.after(50, ran: 20, sleeps: 1, in: 7)
    #expect(clock.advance(to: park, samples: 2, until: end) == time(each: 10))
  }

  @Test func blockBeforeThePark() {
    var (looks, clock) = start()
    _ = clock.advance(to: looks.after(50, sleeps: 1, in: 3), samples: 0)
    let end = looks.look.at + .milliseconds(30)
    #expect(clock.advance(to: looks.after(50, sleeps: 1, in: 7), samples: 0, until: end) == time(before: 30))
  }

  @Test func pausedTimeDoesNotCount() {
    var (looks, clock) = start()
    var stopped = looks.after(50, ran: 10)
    stopped.state = .stopped
    #expect(clock.advance(to: stopped, samples: 0) == time())
    #expect(clock.advance(to: looks.after(50, ran: 10), samples: 1) == time())
    #expect(clock.advance(to: looks.after(50, ran: 50), samples: 5) == time(each: 10))
  }

  @Test func captureThatStoppedTheThreadEndsNoBlock() {
    var (looks, clock) = start()
    _ = clock.advance(to: looks.after(50, sleeps: 1, in: 3), samples: 0)
    clock.absorb(looks.after(1, ran: 0, sleeps: 2, in: 3))
    let next = looks.after(49, in: 3)
    #expect(clock.isInSameBlock(next))
    #expect(clock.advance(to: next, samples: 0) == time(here: 50))
  }

  @Test func copyOfARunningThreadStandsForTheTimeSinceTheLastOne() {
    var (looks, clock) = start()
    _ = clock.advance(to: looks.after(50, ran: 50), samples: 0)
    #expect(clock.takeUnsampled() == .milliseconds(50))
    #expect(clock.takeUnsampled() == .zero)
  }
}
