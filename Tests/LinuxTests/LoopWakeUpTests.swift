// The wake-up of a loop: which of several eventfds it is, and raising one in this process.

import Glibc
import TestSupport
import Testing

@testable import Linux

@Suite struct LoopWakeUpTests {
  private static let plain = """
    pos:\t0
    flags:\t02004002
    mnt_id:\t16
    ino:\t1061
    eventfd-count:               2a
    eventfd-id: 17
    eventfd-semaphore: 0

    """

  @Test func countersAreRead() throws {
    let text = Array(Self.plain.utf8)
    let read = EventCounter(text.span)
    let counter = try #require(read)
    #expect(counter.count == 42 && counter.id == 17 && counter.isSemaphore == false && counter.isNonBlocking)
    let old = Array(Self.plain.replacing("eventfd-semaphore: 0\n", with: "").utf8)
    let older = EventCounter(old.span)
    #expect(older != nil && older?.isSemaphore == nil)
  }

  @Test(arguments: [
    "", "pos:\t0\nflags:\t02\n", "eventfd-count: \neventfd-id: 3\n", "eventfd-count: 1\neventfd-id: x\n",
    "eventfd-count: fffffffffffffffff\neventfd-id: 1\n",
  ]) func otherFilesAreNone(text: String) {
    let bytes = Array(text.utf8)
    let counter = EventCounter(bytes.span)
    #expect(counter == nil)
  }

  @Test func entriesOfAnEpollAreRead() {
    let text = Array(
      """
      pos:\t0
      tfd:       18 events:       19 data:               12  pos:0 ino:425 sdev:f
      tfd:        6 events: 80000001 data: ffffffffffffffff  pos:0 ino:425 sdev:f
      tfd: 99999999999 events: 1 data: 1
      tfd:        7 events:
      tfd:        8 events: 1 data: 1 pos:0

      """.utf8)
    let entries = EpollEntry.entries(text.span, most: 10)
    #expect(entries.map(\.descriptor) == [18, 6, 8])
    #expect(entries[0].data == 0x12 && entries[0].events == 0x19 && !entries[0].isEdgeTriggered)
    #expect(entries[1].isEdgeTriggered && entries[1].data == .max)
    let first = EpollEntry.entries(text.span, most: 1)
    #expect(first.count == 1)
  }

  private func candidate(
    _ descriptor: Int32, data: UInt64? = nil, events: UInt32 = 1, semaphore: String = "0",
    flags: String = "02004002"
  ) throws -> LoopWakeUp.Candidate {
    let text = Array(
      "flags:\t\(flags)\neventfd-count: 0\neventfd-id: \(descriptor)\neventfd-semaphore: \(semaphore)\n".utf8)
    guard let counter = EventCounter(text.span) else { throw Errno.invalidArgument }
    return LoopWakeUp.Candidate(
      descriptor: descriptor, counter: counter,
      entry: data.map { EpollEntry(descriptor: descriptor, events: events, data: $0) })
  }

  @Test func theOnlyOneIsTheLoops() throws {
    #expect(try LoopWakeUp.counter(among: [candidate(4)]) == WakeUpCounter(descriptor: 4, id: 4))
    #expect(try LoopWakeUp.counter(among: [candidate(4, data: 4)]).descriptor == 4)
  }

  @Test func libdispatchMarksItsOwn() throws {
    let all = [try candidate(5, data: 0x7f00_0000_1000), try candidate(4, data: 1)]
    #expect(try LoopWakeUp.counter(among: all).descriptor == 4)
  }

  @Test func whatCannotBeToldIsLeftAlone() throws {
    let two = [try candidate(4, data: 4), try candidate(5, data: 5)]
    #expect(throws: WakeUpRefusal.several(2)) { try LoopWakeUp.counter(among: two) }
    let first = [try candidate(1, data: 1), try candidate(5, data: 5)]
    #expect(throws: WakeUpRefusal.several(2)) { try LoopWakeUp.counter(among: first) }
    #expect(throws: WakeUpRefusal.noneFound) { try LoopWakeUp.counter(among: []) }
    let edge = try candidate(4, data: 4, events: 1 << 31 | 1)
    #expect(throws: WakeUpRefusal.neverTaken) { try LoopWakeUp.counter(among: [edge]) }
    let semaphore = try candidate(4, semaphore: "1")
    #expect(throws: WakeUpRefusal.isSemaphore) { try LoopWakeUp.counter(among: [semaphore]) }
    let old = try candidate(4, semaphore: "")
    #expect(throws: WakeUpRefusal.kernelTooOld) { try LoopWakeUp.counter(among: [old]) }
    let blocking = try candidate(4, flags: "02")
    #expect(throws: WakeUpRefusal.isSemaphore) { try LoopWakeUp.counter(among: [blocking]) }
  }

  /// A process that has an epoll with one eventfd.
  private struct Loop: ~Copyable {
    var target: TargetProcess
    let epoll: Int32
    let wakeUp: Int32

    init(_ kind: String) throws {
      var started = try TargetProcess.start("wake-up", kind)
      let numbers = try started.readLine().split(separator: " ").compactMap { Int32($0) }
      target = started
      (epoll, wakeUp) = (numbers[0], numbers[1])
    }

    var process: Int32 { target.processID }
    var counter: EventCounter? { EventCounter(process: process, descriptor: wakeUp) }

    func raise() throws -> WakeUpCounter {
      try LoopWakeUp.raise(process: process, waitingOn: .epoll(epoll))
    }

    mutating func ask(_ signal: Int32) throws -> String {
      target.signal(signal)
      return try target.readLine()
    }
  }

  @Test func raisedUntilItIsTaken() throws {
    var loop = try Loop("plain")
    let counter = try loop.raise()
    #expect(counter.descriptor == loop.wakeUp)
    #expect(LoopWakeUp.isTaken(counter, process: loop.process) == false)
    let set = WakeUpPlace.set([loop.wakeUp])
    let process = loop.process
    #expect(throws: WakeUpRefusal.isRaised) { try LoopWakeUp.raise(process: process, waitingOn: set) }
    let taken = try loop.ask(SIGUSR1)
    #expect(taken == "\(LoopWakeUp.amount)")
    #expect(LoopWakeUp.isTaken(counter, process: process) == true)
    #expect(try LoopWakeUp.raise(process: process, waitingOn: set) == counter)
  }

  @Test(arguments: [("semaphore", WakeUpRefusal.isSemaphore), ("raised", .isRaised)])
  func nothingElseIsTouched(
    kind: String, refusal: WakeUpRefusal
  ) throws {
    let loop = try Loop(kind)
    let (process, epoll, before) = (loop.process, loop.epoll, loop.counter)
    #expect(throws: refusal) { try LoopWakeUp.raise(process: process, waitingOn: .epoll(epoll)) }
    #expect(loop.counter == before)
    #expect(throws: WakeUpRefusal.unreadable) {
      try LoopWakeUp.raise(process: process, waitingOn: .epoll(9999))
    }
    #expect(throws: WakeUpRefusal.noneFound) {
      try LoopWakeUp.raise(process: process, waitingOn: .set([0, epoll, 9999]))
    }
  }

  @Test func wakeUpWhosePlaceAnotherHasTakenIsGone() throws {
    var loop = try Loop("plain")
    let counter = try loop.raise()
    _ = try loop.ask(SIGUSR2)
    #expect(LoopWakeUp.isTaken(counter, process: loop.process) == nil)
    #expect(loop.counter?.count == 5)
  }

  @Test func noDuplicateIsLeft() throws {
    let loop = try Loop("plain")
    let counter = try loop.raise()
    let holders = (0..<256).filter { EventCounter(process: getpid(), descriptor: $0)?.id == counter.id }
    #expect(holders.isEmpty)
  }

  @Test(arguments: [
    WakeUpRefusal.notAllowed(.notPermitted), .unreadable, .noneFound, .several(3), .neverTaken, .isSemaphore,
    .kernelTooOld, .replaced, .isRaised,
  ]) func refusalsSurviveTheirMessage(refusal: WakeUpRefusal) {
    #expect(WakeUpRefusal(kind: refusal.words.kind, detail: refusal.words.detail) == refusal)
  }
}
