// What the target lets be seen of whether its loop comes round: counters, queues, variables, answers.

import Analysis
import Linux
import StallCore
import Symbols
import TestSupport

extension FuzzedParser {
  static var proofsOfLife: [FuzzedParser] {
    [
      FuzzedParser("event-counter", texts: eventCounters) { _ = EventCounter($0.span) },
      FuzzedParser("epoll-entries", texts: epollEntries, run: readEntries),
      FuzzedParser("main-queue", seeds: mainQueues, run: readQueue),
      FuzzedParser("heartbeat", seeds: [[1, 20, 1, 0, 1, 1, 20, 2, 0, 3]], run: readHeartbeat),
      FuzzedParser("heartbeat-name", texts: ["app:rounds", "lib.so+0x40", "a::b", "main.rounds : Swift.Int"])
      {
        guard let name = HeartbeatName(ByteString($0)) else { return }
        _ = name.means(moduleAt: name.text)
      },
      FuzzedParser("heartbeat-search", seeds: ModuleFile.patchSeeds) { search(ModuleFile.patched($0)) },
      FuzzedParser("heartbeat-answer", seeds: findings.map(\.encoded)) {
        guard let finding = try? HeartbeatFinding(decoding: $0) else { return }
        expect((try? HeartbeatFinding(decoding: finding.encoded)) == finding, "a finding changes on its way")
      },
      FuzzedParser("ping", seeds: [[1, 20, 1, 0, 0, 20, 0, 0, 2, 20, 1, 0]], run: ping),
      FuzzedParser("probe", seeds: [[0, 20, 1, 20, 2, 20, 0, 20, 1, 20]], run: probe),
    ]
  }

  private static let eventCounters = [
    "pos:\t0\nflags:\t02004002\nmnt_id:\t15\nino:\t1057\neventfd-count:                0\neventfd-id: 12\n"
      + "eventfd-semaphore: 0\n",
    "flags:\t02\neventfd-count: ffffffffffffffff\neventfd-id: 99999999999999999999\neventfd-semaphore: 1\n",
  ]

  private static let epollEntries = [
    "pos:\t0\nflags:\t02\ntfd:       18 events:       19 data:               12  pos:0 ino:405 sdev:d\n"
      + "tfd:       5 events: 80000001 data: ffffffffffffffff  pos:0 ino:1 sdev:d\n",
    "tfd: 99999999999 events: 1ffffffff data:\ntfd:tfd:tfd:",
  ]

  private static func readEntries(_ text: [UInt8]) {
    let entries = EpollEntry.entries(text.span, most: 16)
    expect(entries.count <= 16, "more entries than were asked for")
    expect(entries.allSatisfy { $0.descriptor >= 0 }, "a descriptor below zero")
  }

  private static var mainQueues: [[UInt8]] {
    var idle: [UInt64] = Array(repeating: 0, count: MainQueueSight.byteCount / 8)
    (idle[1], idle[8]) = (0x7FFF_FFFF_7FFF_FFFF, 1)
    var busy = idle
    (busy[7], busy[13]) = (0x8000_0000_0000_004D, 0x7F00_1000)
    return [idle, busy].map { $0.flatMap(\.inputBytes) }
  }

  /// The same queue twice with another look at a worker each, whose counts may have gone back: ids are used again.
  private static func readQueue(_ bytes: [UInt8]) {
    var thread = QueueThread()
    var input = Input(Array(bytes.dropFirst(MainQueueSight.byteCount)))
    let sight = MainQueueSight(bytes.span) ?? MainQueueSight(owner: 7)
    expect(sight.owner.map { $0 > 0 } ?? true, "a thread without an id")
    for round in 1...6 {
      let look = look(at: Instant(nanoseconds: 0) + .milliseconds(20 * round), &input)
      _ = thread.stay(look)
      if let owner = sight.owner {
        _ = thread.work(look, of: owner &+ Int32(input.number(UInt8.self) & 1), sight)
      } else {
        _ = sight.waitsForThread ? thread.unknown(at: look.at) : thread.rest(at: look.at)
      }
    }
  }

  private static func look(at moment: Instant, _ input: inout Input) -> ThreadObservation {
    let kind = input.number(UInt8.self)
    var look = ThreadObservation(
      at: moment, state: kind & 1 == 0 ? .sleeping : .stopped,
      activity: kind & 2 == 0 ? .running : .blockedByKind(.futex),
      cpuTime: .milliseconds(Int64(input.number(UInt16.self))),
      runQueueDelay: .milliseconds(Int64(input.number(UInt8.self))),
      timesScheduled: input.number(), voluntarySwitches: input.number())
    (look.userTicks, look.kernelTicks) = (input.number(), input.number())
    return look
  }
}

extension FuzzedParser {
  private static let findings: [HeartbeatFinding] = [
    .found(address: 0x4000, width: 8, place: "app:rounds"), .several(["a:x", "b:x"]),
    .unusable(why: "is a function"), .unknown(nearest: []), .noModule(modules: ["app"]),
    .failed(why: "it ended"),
  ]

  private static func search(_ file: [UInt8]) {
    let bytes = unsafe file.span.bytes
    guard let held = try? SealedBytes.copy(bytes) else { return }
    for name: ByteString in ["main", "completed.0", "a::b"] {
      var search = VariableSearch(for: name)
      search.search(
        descriptor: held.rawDescriptor, path: "/nowhere", debugFiles: DebugFileSearch(directories: []))
      expect(search.variables.allSatisfy { [4, 8].contains($0.width) }, "a counter of another width")
      expect(search.nearest.count <= 8, "more near names than are shown")
    }
  }

  /// Readings of a variable that the program counts up, or not.
  private static func readHeartbeat(_ bytes: [UInt8]) {
    var input = Input(bytes)
    var heartbeat = Heartbeat()
    var at = Instant(nanoseconds: 1_000_000_000)
    while !input.isEmpty {
      let kind = input.number(UInt8.self)
      at = at + .milliseconds(1 + Int64(input.number(UInt8.self)))
      let look = ThreadObservation(
        at: at, state: .sleeping, activity: .running, cpuTime: .zero, runQueueDelay: .zero,
        timesScheduled: 1, voluntarySwitches: UInt64(input.number(UInt8.self)))
      let isParked = kind & 1 == 0
      guard kind & 2 == 0 || heartbeat.wantsReading(at: look, isParked: isParked) else {
        heartbeat.skip()
        continue
      }
      if kind & 128 != 0 { heartbeat.forget() }
      let reading = Heartbeat.Reading(
        value: kind & 64 == 0 ? UInt64(input.number(UInt8.self)) : input.number(), began: at,
        ended: at + .microseconds(10))
      guard let sight = heartbeat.take(reading, at: look, isParked: isParked) else { continue }
      expect((sight.lastPass ?? at) <= reading.ended, "a pass that is still to come")
    }
  }

  /// Whether the loop takes the wake-ups, in any order.
  private static func ping(_ bytes: [UInt8]) {
    var input = Input(bytes)
    var log = PingLog(threshold: .milliseconds(100), isTakenFirst: input.number(UInt8.self) & 1 == 0)
    var times = ResponseTimes()
    var at = Instant(nanoseconds: 1_000_000_000)
    while !input.isEmpty {
      let kind = input.number(UInt8.self)
      at = at + .milliseconds(Int64(input.number(UInt8.self)))
      let look = ThreadObservation(
        at: at, state: kind & 8 == 0 ? .running : .stopped, activity: .running, cpuTime: .zero,
        runQueueDelay: .zero, timesScheduled: 1, voluntarySwitches: 1)
      let isParked = kind & 4 != 0
      if kind & 128 != 0 { log.forget() }
      if log.mayRaise(at: look, isParked: isParked), kind & 2 == 0 { log.raise(from: at, to: at) }
      guard log.isOutstanding else { continue }
      let seen = log.see(isTaken: kind & 1 != 0, at: look, isParked: isParked)
      if let time = seen.responseTime {
        expect(time >= .zero, "an answer before the question")
        times.add(time)
      }
    }
    expect(times.sorted.count == times.count, "answers are lost")
  }

  /// Answers and failures in any order; only their moments count, what they say is not read.
  private static func probe(_ bytes: [UInt8]) {
    var input = Input(bytes)
    var log = ProbeLog()
    var sight = ProbeSight()
    var last: ThreadObservation?
    let began = Instant(nanoseconds: 1_000_000_000)
    var at = began
    while !input.isEmpty {
      let kind = input.number(UInt8.self)
      at = at + .milliseconds(Int64(input.number(UInt8.self)))
      switch kind & 3 {
      case 0: log.send(at: at)
      case 1: log.answer(at: at)
      case 2: log.fail()
      default:
        let look = ThreadObservation(
          at: at, state: .sleeping, activity: .blockedByKind(.futex), cpuTime: .zero, runQueueDelay: .zero,
          timesScheduled: UInt64(kind >> 2), voluntarySwitches: 1)
        _ = sight.passes(in: log.facts, at: look, after: last)
        last = look
      }
      _ = log.facts.wait(from: began, to: at, now: at)
    }
    let shares = [0, 50, 99, 100].compactMap { log.percentile($0) }
    expect(shares == shares.sorted(), "a smaller share took longer")
  }
}
