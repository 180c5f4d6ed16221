// Looks and facts that no program showed, with every field in use.

import Recordings
import StallCore

enum MadeUpLooks {
  private static let start = Instant(nanoseconds: 5_000_000_000_000)

  static let epoll = BlockedCall(
    number: SystemCallNumber.epollWait, arguments: InlineArguments(7, 0x7fff_1000, 64, UInt64.max),
    stackPointer: 0x7fff_ffff_0000, programCounter: 0x7f00_1234_5678)

  static func look(_ number: Int, _ activity: Activity, moved: Int = 0) -> ThreadObservation {
    ThreadObservation(
      at: start + .milliseconds(375 * number), state: activity == .running ? .running : .sleeping,
      activity: activity, cpuTime: .microseconds(1_000 + 300 * moved),
      runQueueDelay: .microseconds(50 + 20 * moved), timesScheduled: UInt64(100 + moved),
      voluntarySwitches: UInt64(90 + moved))
  }

  /// Asleep all the while.
  static func parked(_ count: Int) -> [ThreadObservation] {
    (0..<count).map { number in
      var look = look(number, .blocked(epoll))
      look.at = look.at + .microseconds(number % 7)
      return look
    }
  }

  /// Each look finds it asleep again, after some work.
  static func ticking(_ count: Int) -> [ThreadObservation] {
    (0..<count).map { number in
      var look = look(number, .blocked(epoll), moved: number)
      look.at = look.at + .microseconds(number % 90)
      look.userTicks = UInt64(number / 8)
      return look
    }
  }

  static var all: [ThreadObservation] {
    var read = epoll
    (read.number, read.arguments) = (SystemCallNumber.read, InlineArguments(9, 1, 2, 3, 4, UInt64.max))
    var timed = epoll
    timed.arguments.fourth = 250
    var activities: [Activity] = [
      .running, .unknown, .blocked(epoll), .blocked(read), .blocked(timed), .blocked(epoll),
      .blockedOutsideCall(stackPointer: UInt64.max, programCounter: 0), .blockedByKind(nil),
    ]
    let kinds: [WaitKind] = [
      .epoll, .poll, .ring, .accept, .input, .message, .children, .signal, .futex, .sleep, .other, .unseen,
    ]
    activities += kinds.map { .blockedByKind($0) }
    // More calls than either end remembers.
    for number in 0..<40 {
      var call = epoll
      (call.number, call.stackPointer) = (number * 10, UInt64(number))
      activities.append(.blocked(call))
    }
    return (activities + activities.reversed()).enumerated().map(dressed)
  }

  private static func dressed(_ number: Int, _ activity: Activity) -> ThreadObservation {
    var look = look(number, activity, moved: number % 3 == 0 ? 0 : number)
    if number % 4 == 1 { look.blockedSince = look.at - .microseconds(number * 1_000) }
    if number % 4 < 2 {
      look.blockedNotBefore = look.at - .milliseconds(number + 3)
      look.arrival = ProcessorArrival(at: look.at - .milliseconds(number), cpuTime: look.cpuTime)
    }
    if number % 5 == 2 { look.descriptors = DescriptorSet((0..<Int32(number % 65)).map { $0 * 3 }) }
    if number % 6 == 3 { look.passes = passes(before: look.at, number) }
    (look.userTicks, look.kernelTicks) = (UInt64(number / 10), UInt64.max - UInt64(number / 20))
    let states: [ThreadState] = [.uninterruptible, .stopped, .traced, .frozen, .idle, .parked]
    if number % 7 == 4 { look.state = states[number % states.count] }
    return look
  }

  private static func passes(before moment: Instant, _ number: Int) -> PassSight {
    let sources: [PassSource] = [.breakpoint, .heartbeat, .ping, .probe]
    var passes = PassSight(
      source: sources[number / 6 % 4], firstPass: moment - .milliseconds(9),
      lastPass: moment - .milliseconds(3), lastPassAfter: number % 2 == 0 ? nil : moment - .milliseconds(4),
      quietSince: moment)
    passes.passSource = sources[number / 12 % 4]
    (passes.count, passes.longestRound) = (number, .milliseconds(number))
    return passes
  }
}

enum MadeUpFacts {
  static var watch: RecordedWatch {
    var watch = RecordedWatch()
    (watch.writtenBy, watch.watchID, watch.host) = ("0.1.0", "1f2e", "example")
    (watch.processID, watch.name, watch.command) = (42, "viewer", ["viewer", "", ByteString([0xFF, 0])])
    (watch.executable, watch.buildID, watch.startTicks) = ("/usr/bin/viewer", "00ff", 0)
    (watch.generation, watch.threads, watch.observer) = (2, 9, "proc")
    watch.captureWays = [.ptrace, .syscallFile]
    watch.missing = [RecordedWatch.Missing(what: "stacks", why: "nobody may")]
    (watch.threshold, watch.interval) = (.milliseconds(500), .milliseconds(20))
    (watch.cpuThreshold, watch.cpuWindow) = (70, .seconds(3))
    watch.startedAt = Instant(nanoseconds: 4_000_000_000_000)
    (watch.thread, watch.threadReason) = (thread, "the first thread of the process")
    watch.home = HomeSelector("epoll:7")
    watch.probe = "http://localhost:8080/"
    return watch
  }

  static let thread = RecordedThread(
    index: 0, threadID: 7, name: "viewer", role: .main)

  static var stack: RecordedStack {
    RecordedStack(
      at: Instant(nanoseconds: 5_000_000_000_000), stack: namedStack,
      cause: Cause(.sleep, "sleeping", confidence: .high, evidence: ["it is in clock_nanosleep"]),
      companions: [
        Stack(
          threadID: 8, threadName: "worker", role: .lockOwner, way: nil, stoppedFor: .zero,
          end: .notCaptured, frames: [])
      ])
  }

  private static var namedStack: Stack {
    var frame = Frame(programCounter: .max, trust: .framePointer)
    frame.module = ModuleReference(path: "/usr/lib/libviewer.so", buildID: "0a0b", isDeleted: true)
    (frame.moduleOffset, frame.symbolOffset) = (0, .max)
    (frame.symbol, frame.rawSymbol, frame.aliases) = ("load()", "_Z4loadv", ["other", "third"])
    (frame.file, frame.line) = ("/usr/src/load.cpp", 0)
    (frame.isInlined, frame.isSignalFrame, frame.isGenerated) = (true, true, true)
    var stack = Stack(
      threadID: 7, threadName: "viewer", role: .main, way: .ptrace, stoppedFor: .microseconds(31),
      end: .root, frames: [frame, Frame(programCounter: 1, trust: .exact)])
    (stack.isApproximate, stack.isCompleted, stack.missing) = (true, true, "lines")
    return stack
  }

  static let notice = RecordedNotice(
    at: Instant(nanoseconds: 5_000_000_000_000), kind: "loop.found", text: "loop found: epoll 7",
    loop: RecordedLoop(threadID: 7, home: "epoll:7", family: nil, parkedPercent: 99.5, nesting: 2))
  static let exit = RecordedExit(
    at: Instant(nanoseconds: 6_000_000_000_000), how: .signalled(15),
    survivors: [RecordedExit.Survivor(processID: 43, name: "child")])
  static let end = RecordedEnd(
    at: Instant(nanoseconds: 6_000_000_000_000), cpuTime: .milliseconds(12), targetStopped: .microseconds(31))

  /// Each with something else that is new, can be read for the first time, or cannot be read any more.
  static var readings: [SurroundingsReading] {
    let at = Instant(nanoseconds: 5_000_000_000_000)
    let throttled = Throttling(times: 7, time: .milliseconds(31))
    var readings = [
      SurroundingsReading(at: at, throttled: nil, stolen: nil, pressure: Pressure(), majorFaults: 0),
      SurroundingsReading(
        at: at + .seconds(1), throttled: throttled, stolen: .seconds(9),
        pressure: Pressure(cpu: .seconds(3), memory: .zero, disk: .microseconds(1)), majorFaults: .max),
    ]
    readings.append(readings[1])
    readings[2].at = at + .seconds(2)
    readings.append(readings[2])
    readings[3].throttled = Throttling(times: .max, time: .milliseconds(32))
    (readings[3].stolen, readings[3].pressure.memory, readings[3].majorFaults) = (.seconds(8), nil, 3)
    readings.append(readings[3])
    (readings[4].throttled, readings[4].stolen, readings[4].pressure.disk) = (nil, nil, .seconds(70))
    return readings
  }

  /// More than one entry holds, and time that goes back is none.
  static var probeEvents: [ProbeEvent] {
    let at = Instant(nanoseconds: 5_000_000_000_000)
    return (0..<20).map { number in
      ProbeEvent([.sent, .answered, .failed][number % 3], at: at + .microseconds(number * number))
    }
  }

  static var wholeRecording: [UInt8] {
    var bytes = RecordingBytes()
    bytes.appendHeader()
    var facts = FactEncoder()
    facts.append(watch, to: &bytes)
    bytes.append(thread)
    bytes.append(
      RecordedClock(at: Instant(nanoseconds: 5_000_000_000_000), wallMicroseconds: 1_700_000_000_000_000))
    var encoder = LookEncoder()
    for look in MadeUpLooks.all.prefix(12) { encoder.append(look, of: 0, late: .milliseconds(2), to: &bytes) }
    for reading in readings { encoder.append(reading, of: 0, to: &bytes) }
    encoder.append(probeEvents, to: &bytes)
    bytes.appendPingTaken(after: .milliseconds(3))
    bytes.append(worker: thread)
    bytes.appendMissed(0)
    facts.append(stack, to: &bytes)
    facts.append(notice, to: &bytes)
    bytes.appendEnded(0, .targetExited, at: Instant(nanoseconds: 6_000_000_000_000))
    facts.append(exit, to: &bytes)
    facts.append(end, to: &bytes)
    return bytes.bytes
  }
}
