// What a recording holds beside looks of one thread: readings of its surroundings, questions from outside, workers.

import Recordings
import StallCore
import Testing

@Suite struct SurroundingsEntryTests {
  @Test("readings of several threads come back") func readingsComeBack() throws {
    var bytes = RecordingBytes.started
    var encoder = LookEncoder()
    for reading in MadeUpFacts.readings {
      for thread in [3, 0] { encoder.append(reading, of: thread, to: &bytes) }
    }
    for thread in [0, 3] {
      let read: [SurroundingsReading] = try bytes.entries().compactMap {
        if case .surroundings(thread, let reading) = $0 { reading } else { nil }
      }
      #expect(read == MadeUpFacts.readings)
    }
  }

  @Test("a reading that shows nothing new costs its moment") func unchangedReadingIsShort() {
    var bytes = RecordingBytes()
    var encoder = LookEncoder()
    var reading = MadeUpFacts.readings[1]
    encoder.append(reading, of: 0, to: &bytes)
    let before = bytes.count
    reading.at = reading.at + .milliseconds(500)
    encoder.append(reading, of: 0, to: &bytes)
    #expect(bytes.count - before == 7)
  }

  @Test("a sum over more CPUs than there is time is cut, and no damage") func longSumIsCut() throws {
    var bytes = RecordingBytes.started
    var encoder = LookEncoder()
    var reading = MadeUpFacts.readings[1]
    reading.stolen = .seconds(Int64.max / 2_000_000_000)
    for second in 0..<2 {
      reading.at = reading.at + .seconds(second)
      encoder.append(reading, of: 0, to: &bytes)
    }
    #expect(try bytes.entries().count { if case .surroundings = $0 { true } else { false } } == 2)
  }

  @Test("questions from outside come back, whichever entry they are in") func probesComeBack() throws {
    var bytes = RecordingBytes.started
    var encoder = LookEncoder()
    let events = MadeUpFacts.probeEvents
    encoder.append(Array(events[..<1]), to: &bytes)
    encoder.append([], to: &bytes)
    encoder.append(Array(events[1...]), to: &bytes)
    let entries = try bytes.entries().compactMap { entry -> [ProbeEvent]? in
      if case .probed(let events) = entry { events } else { nil }
    }
    #expect(entries.flatMap(\.self) == events)
    #expect(entries.count > 2)
  }

  @Test("a question and its answer cost seven bytes") func probeIsShort() {
    var bytes = RecordingBytes()
    var encoder = LookEncoder()
    var at = Instant(nanoseconds: 5_000_000_000_000)
    var counts: [Int] = []
    for _ in 0..<3 {
      let before = bytes.count
      let sent = ProbeEvent(.sent, at: at)
      encoder.append([sent, ProbeEvent(.answered, at: at + .microseconds(800))], to: &bytes)
      counts.append(bytes.count - before)
      at = at + .milliseconds(250)
    }
    #expect(counts.dropFirst().allSatisfy { $0 == 7 }, "\(counts)")
  }

  @Test("workers, pings and ends come back") func otherEntriesComeBack() throws {
    var bytes = RecordingBytes.started
    let at = Instant(nanoseconds: 5_000_000_000_000)
    let worker = RecordedThread(index: 2, threadID: 99, name: ByteString([0xFF, 0x20]), role: .mainQueue)
    bytes.append(worker: worker)
    bytes.appendPingTaken(after: .microseconds(300))
    bytes.appendMissed(2)
    let reasons: [Interruption] = [.threadEnded, .threadChanged, .watchEnded, .targetExited]
    for reason in reasons { bytes.appendEnded(2, reason, at: at) }
    let entries = try bytes.entries()
    #expect(
      entries.contains {
        if case .worker(2, threadID: 99, name: worker.name) = $0 { true } else { false }
      })
    #expect(
      entries.contains { if case .pingTaken(after: .microseconds(300)) = $0 { true } else { false } })
    #expect(entries.contains { if case .threadMissed(2) = $0 { true } else { false } })
    let read = entries.compactMap { entry -> Interruption? in
      if case .threadEnded(2, at: at, let reason) = entry { reason } else { nil }
    }
    #expect(read == reasons)
  }

  @Test(
    "what no watch writes is damage",
    arguments: [
      [0x15, 3, 0, 1, 0],  // A reading of before the machine began.
      [0x15, 4, 0, 2, 2, 2],  // Stolen time that goes below zero.
      [0x15, 2, 0, 2],  // A reading without its mask.
      [0x17, 1, 3],  // There is no such thing to happen to a question.
      [0x17, 9, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40],  // In a hundred years.
      [0x19, 3, 0, 1, 2],  // There is no such end.
    ] as [[UInt8]])
  func damageIsFound(_ entry: [UInt8]) throws {
    let before = RecordingBytes.started
    let recording = try Recording(before.bytes + entry)
    #expect(recording.problem.map { if case .damaged = $0 { true } else { false } } == true)
  }
}
