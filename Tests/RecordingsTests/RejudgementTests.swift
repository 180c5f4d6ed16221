// Judging a recording again: as the watch would have, with whatever threshold.

import Recordings
import StallCore
import Testing

@Suite struct RejudgementTests {
  private let parked = MadeUpLooks.epoll
  private let sleep = BlockedCall(
    number: SystemCallNumber.clockNanosleep, arguments: InlineArguments(), stackPointer: 0x7fff_fffe_0000,
    programCounter: 0x7f00_0000_1000)

  /// A loop that parks five times, sleeps for 1.5 s in a callback, and parks again. Looks are 100 ms apart. Half a
  /// second into the sleep the thread is held for a capture, after which it goes on with the sleep. Beside the looks its
  /// surroundings are read at 600 ms, 1 s and 2 s, and a probe is out from 0.7 to 1.95 s.
  private func recording() throws -> Recording {
    var bytes = RecordingBytes.started
    var encoder = LookEncoder()
    let start = Instant(nanoseconds: 5_000_000_000_000)
    func read(_ tenth: Int) {
      let reading = SurroundingsReading(
        at: start + .milliseconds(100 * tenth), throttled: nil, stolen: .milliseconds(tenth),
        pressure: Pressure(), majorFaults: UInt64(tenth))
      encoder.append(reading, of: 0, to: &bytes)
    }
    func look(_ tenth: Int, _ call: BlockedCall, moved: Int, since: Int? = nil) -> ThreadObservation {
      ThreadObservation(
        at: start + .milliseconds(100 * tenth), state: .sleeping, activity: .blocked(call),
        cpuTime: .milliseconds(moved), runQueueDelay: .zero, timesScheduled: UInt64(moved),
        voluntarySwitches: UInt64(moved), blockedSince: since.map { start + .milliseconds(100 * $0) })
    }
    for tenth in 0..<5 { encoder.append(look(tenth, parked, moved: tenth), of: 0, to: &bytes) }
    for tenth in 5..<10 {
      if tenth == 6 { read(6) }
      if tenth == 8 { encoder.append([ProbeEvent(.sent, at: start + .milliseconds(700))], to: &bytes) }
      encoder.append(look(tenth, sleep, moved: 5, since: 5), of: 0, to: &bytes)
    }
    read(10)
    var restarted = sleep
    restarted.number = SystemCallNumber.restartSyscall
    encoder.append(look(10, sleep, moved: 5, since: 5), of: 0, to: &bytes)
    var held = look(10, restarted, moved: 7, since: 10)
    held.at = held.at + .milliseconds(1)
    encoder.append(held, of: 0, isAfterCapture: true, to: &bytes)
    for tenth in 11..<20 { encoder.append(look(tenth, restarted, moved: 7, since: 10), of: 0, to: &bytes) }
    read(20)
    encoder.append([ProbeEvent(.answered, at: start + .milliseconds(1_950))], to: &bytes)
    for tenth in 20..<24 {
      encoder.append(look(tenth, parked, moved: tenth - 12, since: 20), of: 0, to: &bytes)
    }
    var facts = FactEncoder()
    facts.append(MadeUpFacts.end, to: &bytes)
    return try Recording(bytes.bytes)
  }

  private func stalls(at threshold: Duration) throws -> [(stall: Stall, before: Instant)] {
    var judgement = try Rejudgement(recording(), PhaseThresholds(normal: threshold))
    var stalls: [(Stall, Instant)] = []
    while !judgement.isAtEnd {
      for said in judgement.next() {
        switch said.action {
        case .none: break
        case .captureAndReport(let stall), .report(let stall): stalls.append((stall, said.before))
        }
      }
    }
    return stalls
  }

  @Test(
    "a stall is found at every threshold below its length, and proven across the capture of that time",
    arguments: [(100, 1), (500, 1), (1_000, 1), (1_400, 1), (1_600, 0), (5_000, 0)])
  func stallIsFoundBelowItsLength(_ threshold: Int, _ count: Int) throws {
    let ended = try stalls(at: .milliseconds(threshold)).map(\.stall).filter { $0.state == .ended }
    #expect(ended.count == count)
    #expect(ended.allSatisfy { $0.proof == .didNotMove })
    #expect(ended.allSatisfy { abs($0.duration.likely.milliseconds - 1_500) < 20 })
  }

  @Test(
    "surroundings are those of that time: the same at the same threshold, at another what was read before",
    arguments: [500, 1_000])
  func surroundingsAreThoseOfThatTime(_ threshold: Int) throws {
    let stalls = try stalls(at: .milliseconds(threshold)).map(\.stall)
    #expect(stalls.first?.surroundings?.over == .milliseconds(400))
    #expect(stalls.last?.surroundings?.over == .milliseconds(1_400))
    #expect(stalls.last?.surroundings?.stolen == .milliseconds(14))
    #expect(stalls.last?.surroundings?.majorFaults == 14)
  }

  @Test("a probe is as far as it was") func probeIsAsFarAsItWas() throws {
    let stalls = try stalls(at: .milliseconds(500)).map(\.stall)
    #expect(stalls.first?.probe == .unanswered(for: .milliseconds(300)))
    #expect(stalls.last?.probe == .answered(after: .milliseconds(1_250)))
  }

  @Test("it is known up to when a capture belongs to what is said") func nextLookIsKnown() throws {
    let first = try #require(try stalls(at: .milliseconds(500)).first)
    #expect(first.stall.state == .ongoing)
    // The look right after the capture is none of those that were due.
    #expect(first.before == Instant(nanoseconds: 5_001_100_000_000))
  }

  @Test("a recording that was never finished ends with what goes on") func unfinishedStallIsCutOff() throws {
    let whole = try recording().bytes
    var stalls: [Stall] = []
    // All but the parks at its end, and the last word.
    let cut = try Recording(Array(whole.prefix(whole.count - 40)))
    var judgement = try Rejudgement(cut, PhaseThresholds(normal: .milliseconds(500)))
    while !judgement.isAtEnd {
      for said in judgement.next() { if case .report(let stall) = said.action { stalls.append(stall) } }
    }
    #expect(stalls.map(\.state) == [.interrupted(.watchEnded)])
  }
}
