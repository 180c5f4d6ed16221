// Exact starts of work and of blocks, from when a thread was put on a CPU.

import StallCore
import Testing

@Suite struct ProcessorArrivalTests {
  private func look(
    _ at: Int64, blocked: Bool, cpu: Int64, delay: Int64, scheduled: UInt64, switches: UInt64,
    arrival: (at: Int64, cpu: Int64)?
  ) -> ThreadObservation {
    let call = BlockedCall(number: 0, arguments: InlineArguments(), stackPointer: 1, programCounter: 1)
    var look = ThreadObservation(
      at: instant(at), state: blocked ? .sleeping : .running, activity: blocked ? .blocked(call) : .running,
      cpuTime: .milliseconds(cpu), runQueueDelay: .milliseconds(delay), timesScheduled: scheduled,
      voluntarySwitches: switches)
    look.arrival = arrival.map { ProcessorArrival(at: instant($0.at), cpuTime: .milliseconds($0.cpu)) }
    return look
  }

  private func instant(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

  private var parked: ThreadObservation {
    look(0, blocked: true, cpu: 10, delay: 5, scheduled: 7, switches: 3, arrival: nil)
  }

  /// It was woken at 100 and waited 5 ms for a CPU. Its run time is 9 ms old at the look, which does not matter.
  @Test func runningSinceItWasWoken() {
    let running = look(
      200, blocked: false, cpu: 96, delay: 10, scheduled: 8, switches: 3, arrival: (105, 10))
    let spell = WorkingSpell(first: running, after: parked)
    #expect(spell.likelyStart == instant(100) && spell.latestStart == instant(100))
    #expect(spell.earliestStart == instant(100) - .microseconds(200))
  }

  /// Put off the CPU once: what was stolen in the first run is not known.
  @Test func runningAgain() throws {
    let running = look(
      200, blocked: false, cpu: 60, delay: 15, scheduled: 9, switches: 3, arrival: (150, 50))
    let spell = WorkingSpell(first: running, after: parked)
    #expect(spell.likelyStart == instant(100))
    let earliest = try #require(spell.earliestStart)
    #expect(earliest < instant(98) && earliest > instant(90))
  }

  @Test func blockedElsewhereSince() {
    var blocked = look(300, blocked: true, cpu: 30, delay: 5, scheduled: 8, switches: 4, arrival: (100, 10))
    blocked.blockedSince = instant(121)
    #expect(blocked.ranUntil == instant(120))
    #expect(blocked.blockedSinceTolerance == .microseconds(1_200))
    #expect(WorkingSpell(first: blocked, after: parked).likelyStart == instant(100))
  }

  /// It slept in between: where, no look saw.
  @Test func notAfterAnotherSleep() {
    let running = look(
      200, blocked: false, cpu: 96, delay: 10, scheduled: 9, switches: 4, arrival: (105, 10))
    #expect(WorkingSpell(first: running, after: parked).earliestStart == parked.at)
  }
}
