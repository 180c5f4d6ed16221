// Recordings: a file that anybody may have made.

import Recordings
import StallCore

extension FuzzedParser {
  static var recordingFiles: [FuzzedParser] { [FuzzedParser("recording", seeds: recordings, run: replay)] }

  private static func replay(_ bytes: [UInt8]) {
    guard let recording = try? Recording(bytes),
      var judgement = try? Rejudgement(recording, PhaseThresholds(normal: .milliseconds(100)))
    else { return }
    var last = Instant(nanoseconds: 0)
    while !judgement.isAtEnd {
      for said in judgement.next() {
        check(said.action)
        expect(said.at >= last, "the judgement goes back in time")
        expect(said.before >= said.at, "a look is over before it began")
        last = said.at
        _ = recording.wallMicroseconds(at: said.at)
        _ = recording.stack(of: 7, from: said.at, before: said.before)
      }
    }
    _ = judgement.statistics
    _ = judgement.probe.percentile(99)
    let times = judgement.responseTimes
    expect(times.sorted.count == min(times.count, 10_000), "answers are lost")
  }

  private static func check(_ action: StallAction) {
    _ = action.with { stall in
      guard let surroundings = stall.surroundings else { return }
      expect(surroundings.over > .zero, "surroundings of no time")
      expect((0...1).contains(surroundings.throttledShare), "throttled for more than the time")
      _ = surroundings.highShares()
    }
  }

  private static var recordings: [[UInt8]] {
    var bytes = RecordingBytes()
    bytes.appendHeader()
    var facts = FactEncoder()
    facts.append(RecordedWatch(), to: &bytes)
    bytes.append(RecordedThread(index: 0, threadID: 7, name: "viewer", role: .main))
    let beginning = bytes.bytes
    var encoder = LookEncoder()
    for number in 0..<30 {
      appendBeside(number, &encoder, &bytes)
      append(number, &encoder, &bytes)
    }
    var frame = Frame(programCounter: 1, trust: .exact)
    frame.symbol = "load"
    let stack = Stack(
      threadID: 7, threadName: "viewer", role: .main, way: .ptrace, stoppedFor: .zero, end: .root,
      frames: [frame])
    let at = Instant(nanoseconds: 2_000_000_000)
    facts.append(RecordedStack(at: at, stack: stack, cause: nil), to: &bytes)
    facts.append(RecordedNotice(at: at, kind: "loop.found", text: "loop found"), to: &bytes)
    bytes.append(RecordedClock(at: at, wallMicroseconds: 1_000_000))
    bytes.appendProgramReplaced(0)
    bytes.append(WatchGap.held(.seconds(1)), 0)
    bytes.append(PhaseFact.askedToQuit(at: at, mayGoOn: true), 0)
    bytes.appendBackground(true, 0)
    bytes.appendJudged(0, false)
    bytes.append(worker: RecordedThread(index: 0, threadID: 9, name: "pool", role: .mainQueue))
    bytes.appendPingTaken(after: .milliseconds(2))
    bytes.appendMissed(0)
    bytes.appendEnded(0, .targetExited, at: at)
    bytes.appendEnded(0, .threadEnded, at: at)
    facts.append(RecordedExit(at: at, how: .exited(1), survivors: nil), to: &bytes)
    facts.append(RecordedEnd(at: at, cpuTime: .zero, targetStopped: .zero), to: &bytes)
    return [bytes.bytes, beginning]
  }

  /// Readings of the surroundings at every other look, and a probe that is out for ten.
  private static func appendBeside(
    _ number: Int, _ encoder: inout LookEncoder, _ bytes: inout RecordingBytes
  ) {
    let at = Instant(nanoseconds: 1_000_000_000) + .milliseconds(30 * number)
    if number % 2 == 0 {
      let time = Duration.milliseconds(number)
      let throttled = number > 4 ? Throttling(times: UInt64(number), time: time) : nil
      encoder.append(
        SurroundingsReading(
          at: at, throttled: throttled, stolen: time, pressure: Pressure(cpu: time, memory: nil, disk: .zero),
          majorFaults: UInt64(number)),
        of: 0, to: &bytes)
    }
    if number % 10 == 3 {
      encoder.append(
        [ProbeEvent(.answered, at: at - .milliseconds(1)), ProbeEvent(.sent, at: at)], to: &bytes)
    }
  }

  private static func append(_ number: Int, _ encoder: inout LookEncoder, _ bytes: inout RecordingBytes) {
    let isWorking = (10..<20).contains(number)
    let call = BlockedCall(
      number: isWorking ? SystemCallNumber.nanosleep : SystemCallNumber.poll,
      arguments: InlineArguments(0x1000, 2, UInt64.max), stackPointer: 0x7fff_0000, programCounter: 0x1000)
    let moved = number < 10 ? number : 11 + number / 20
    var look = ThreadObservation(
      at: Instant(nanoseconds: 1_000_000_000) + .milliseconds(30 * number), state: .sleeping,
      activity: .blocked(call), cpuTime: .milliseconds(moved), runQueueDelay: .zero,
      timesScheduled: UInt64(moved), voluntarySwitches: UInt64(moved),
      descriptors: isWorking ? nil : DescriptorSet([3, 4]))
    if number % 8 == 7 {
      look.passes = PassSight(source: .breakpoint, lastPass: look.at, quietSince: look.at)
    }
    encoder.append(look, of: 0, isAfterCapture: number == 15, to: &bytes)
  }
}
