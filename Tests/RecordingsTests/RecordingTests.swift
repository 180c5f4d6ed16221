// Recordings: what is written is read again, in few bytes, and whatever else a file may hold does no harm.

import Recordings
import StallCore
import Testing

@Suite struct RecordingTests {
  @Test("every field of a look comes back, of several threads in turn")
  func looksComeBack() throws {
    var bytes = RecordingBytes.started
    var encoder = LookEncoder()
    var wanted: [String] = []
    for (number, look) in MadeUpLooks.all.enumerated() {
      let thread = number % 9
      let isAfterCapture = number % 5 == 0
      encoder.append(look, of: thread, isAfterCapture: isAfterCapture, to: &bytes)
      wanted.append("\(thread) \(isAfterCapture) \(look)")
    }
    let looks = try bytes.entries().compactMap(\.look)
    #expect(looks.map { "\($0.thread) \($0.isAfterCapture) \($0.observation)" } == wanted)
  }

  @Test("a look that shows nothing new costs two bytes, whatever thread it is of")
  func repeatedLookCostsTwoBytes() {
    var bytes = RecordingBytes()
    var encoder = LookEncoder()
    for thread in 0..<8 {
      for look in MadeUpLooks.parked(3) { encoder.append(look, of: thread, to: &bytes) }
      let before = bytes.count
      for look in MadeUpLooks.parked(10).dropFirst(3) { encoder.append(look, of: thread, to: &bytes) }
      #expect(bytes.count - before == 14)
    }
  }

  @Test("a calm hour takes far less than a megabyte") func calmHourIsSmall() {
    var bytes = RecordingBytes()
    var encoder = LookEncoder()
    // A loop that wakes up at every look to do something.
    for look in MadeUpLooks.ticking(9_600) { encoder.append(look, of: 0, to: &bytes) }
    #expect(bytes.count < 200_000)
  }

  @Test("lateness is kept where it matters") func latenessIsKept() throws {
    var bytes = RecordingBytes.started
    var encoder = LookEncoder()
    for (look, late) in zip(MadeUpLooks.parked(3), [0, 250, 0]) {
      encoder.append(look, of: 0, late: .milliseconds(late), to: &bytes)
    }
    #expect(try bytes.entries().compactMap(\.look).map(\.late) == [.zero, .milliseconds(250), .zero])
  }

  @Test("what stands beside the looks comes back") func factsComeBack() throws {
    var bytes = RecordingBytes()
    bytes.appendHeader()
    var facts = FactEncoder()
    facts.append(MadeUpFacts.watch, to: &bytes)
    facts.append(MadeUpFacts.stack, to: &bytes)
    let first = bytes.count
    facts.append(MadeUpFacts.stack, to: &bytes)
    // Its names are in the file already.
    #expect(bytes.count - first < 80)
    facts.append(MadeUpFacts.notice, to: &bytes)
    facts.append(MadeUpFacts.exit, to: &bytes)
    bytes.append(MadeUpFacts.thread)
    bytes.appendLooksMissing(70_000)
    facts.append(MadeUpFacts.end, to: &bytes)
    let recording = try Recording(bytes.bytes)
    #expect(recording.problem == nil)
    #expect(recording.watch == MadeUpFacts.watch)
    #expect(recording.notices == [MadeUpFacts.notice])
    #expect(recording.exit == MadeUpFacts.exit)
    #expect(recording.end == MadeUpFacts.end)
    #expect(recording.threads == [0: MadeUpFacts.thread])
    #expect(recording.looksMissing == 70_000)
    let stack = recording.stack(
      of: 7, from: MadeUpFacts.stack.at, before: MadeUpFacts.stack.at + .milliseconds(1))
    #expect(stack.map { "\($0)" } == "\(MadeUpFacts.stack)")
    #expect(
      recording.stack(of: 7, from: MadeUpFacts.stack.at + .milliseconds(1), before: .init(nanoseconds: .max))
        == nil)
  }

  @Test("what stacks said of waits comes back") func meaningsOfWaitsComeBack() throws {
    let call = MadeUpLooks.epoll
    var sites = [Site(.unseen)]
    let numbers = [
      SystemCallNumber.epollWait, SystemCallNumber.poll, SystemCallNumber.ioUringEnter,
      SystemCallNumber.accept, SystemCallNumber.msgrcv, SystemCallNumber.wait4, SystemCallNumber.futex,
    ]
    for number in numbers {
      for descriptors in [nil, DescriptorSet([3, 9])] {
        var other = call
        (other.number, other.arguments.third, other.arguments.fourth) = (number, 250, 17)
        sites.append(try #require(Site(other, descriptors: descriptors)))
      }
    }
    var bytes = RecordingBytes.started
    for site in sites { bytes.appendLearned(.work, of: site, 3) }
    let learned = try bytes.entries().compactMap {
      if case .learned(3, .work, of: let site) = $0 { site } else { nil }
    }
    #expect(learned == sites)
  }

  @Test("gaps and facts of phases come back") func gapsAndFactsOfPhasesComeBack() throws {
    let at = Instant(nanoseconds: 5_000_000_000_000)
    let gaps: [WatchGap] = [
      .starved(.seconds(1)), .stopped(.zero), .held(.milliseconds(3)), .suspended(.seconds(70_000)),
    ]
    let facts: [PhaseFact] = [
      .began(after: at, by: at + .milliseconds(10)), .askedToQuit(at: at, mayGoOn: true),
      .askedToQuit(at: at, mayGoOn: false), .askedToStop(at: at), .stopped(at: at), .machineResumed(at: at),
    ]
    var bytes = RecordingBytes.started
    for gap in gaps { bytes.append(gap, 2) }
    for fact in facts { bytes.append(fact, 2) }
    bytes.appendBackground(true, 2)
    let entries = try bytes.entries()
    #expect(entries.compactMap { if case .gap(2, let gap) = $0 { gap } else { nil } } == gaps)
    #expect(entries.compactMap { if case .phaseFact(2, let fact) = $0 { fact } else { nil } } == facts)
    #expect(entries.contains { if case .background(2, true) = $0 { true } else { false } })
  }

  @Test("a file that ends anywhere is used up to there") func truncatedFileIsUsed() throws {
    let bytes = MadeUpFacts.wholeRecording
    let looks = try Recording.looks(bytes)
    for count in 0..<bytes.count {
      switch Result(catching: { () throws(RecordingProblem) in try Recording(Array(bytes.prefix(count))) }) {
      case .success(let recording):
        #expect(recording.problem == .endsEarly, "\(count) bytes")
        #expect(try looks.starts(with: Recording.looks(recording.bytes)))
      case .failure(let problem):
        #expect(problem == (count < 21 ? .notARecording : .endsEarly), "\(count) bytes")
      }
    }
    #expect(try Recording(bytes).problem == nil)
  }

  @Test("no recording, and one of a newer format") func otherFilesAreRefused() {
    #expect(throws: RecordingProblem.notARecording) { try Recording([]) }
    #expect(throws: RecordingProblem.notARecording) {
      try Recording(Array("#!/bin/sh\nexit 0 # or something\n".utf8))
    }
    let newer = RecordingFormat.magic + [UInt8(RecordingFormat.version) + 1, 0, 1, 2]
    #expect(throws: RecordingProblem.newerFormat(RecordingFormat.version + 1)) { try Recording(newer) }
  }

  @Test("an entry of a kind that is not known is skipped") func unknownEntryIsSkipped() throws {
    let bytes = MadeUpFacts.wholeRecording
    var reader = try RecordingReader(bytes)
    _ = try reader.next()
    let place = RecordingFormat.magic.count + 1
    let unknown = Array(bytes[..<place]) + [0x3F, 3, 1, 2, 3] + bytes[place...]
    #expect(try Recording.looks(unknown) == Recording.looks(bytes))
  }

  @Test(
    "what no watch writes is damage, and what stands before it is used",
    arguments: [
      [0x40, 0, 0xB3, 0xE3, 0x2D],  // A look a microsecond before the last one: time goes back.
      [0xF0, 0x00],  // A thread that was never looked at shows nothing new.
      [0x44, 0, 0, 0x11, 0],  // There is no such state.
      [0x44, 0, 0, 0x53, 0x4F],  // Nor such a wait.
      [0x41, 0, 0, 0x01, 0, 0, 0],  // Negative CPU time.
      [0x0E, 2, 0, 0],  // An entry that is shorter than what it holds.
      [0x40, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7F],  // A number of more than 64 bits.
    ] as [[UInt8]])
  func damageIsFound(_ entry: [UInt8]) throws {
    var bytes = RecordingBytes.started
    var encoder = LookEncoder()
    for var look in MadeUpLooks.parked(2) {
      look.cpuTime = .zero
      encoder.append(look, of: 0, to: &bytes)
    }
    let recording = try Recording(bytes.bytes + entry)
    #expect(recording.problem.map { if case .damaged = $0 { true } else { false } } == true)
    #expect(try Recording.looks(recording.bytes).count == 2)
  }
}

extension Recording {
  /// Those that can be read, as texts.
  static func looks(_ bytes: [UInt8]) throws -> [String] {
    var reader = try RecordingReader(bytes)
    var looks: [String] = []
    while let entry = try? reader.next() { if let look = entry.look { looks.append("\(look)") } }
    return looks
  }
}

extension RecordingEntry {
  var look: RecordedLook? { if case .look(let look) = self { look } else { nil } }
}

extension RecordingBytes {
  /// The header and the first entry.
  static var started: RecordingBytes {
    var bytes = RecordingBytes()
    bytes.appendHeader()
    var facts = FactEncoder()
    facts.append(MadeUpFacts.watch, to: &bytes)
    bytes.append(MadeUpFacts.thread)
    return bytes
  }

  /// All that can be read.
  func entries() throws -> [RecordingEntry] {
    var reader = try RecordingReader(bytes)
    var entries: [RecordingEntry] = []
    while let entry = try? reader.next() { entries.append(entry) }
    return entries
  }
}
