// What the watch and its helper say to each other survives the way, and nonsense is refused.

import Linux
import StallCore
import Testing

@testable import Stacks

@Suite struct CaptureMessageTests {
  @Test(arguments: 0..<8)
  func requestSurvives(flags: Int) {
    var request = CaptureRequest(kind: .memory, processID: 12, threadID: -3)
    request.id = .max
    request.rules = CaptureRules(isParked: flags & 1 != 0, mayStop: flags & 2 != 0, isDump: flags & 4 != 0)
    request.address = 0x8000_0000_0000_0001
    request.count = 8192
    request.patience = -7
    #expect(CaptureRequest(decoding: request.encoded()) == request)
  }

  @Test func replySurvives() throws {
    var reply = CaptureReply(id: 9)
    reply.way = .syscallFile
    reply.registers[Registers.stackPointer] = .max
    reply.registers[Registers.programCounter] = 0
    reply.stack = StackLayout(
      topAddress: 0x7fff_0000, topCount: 65_536, interruptedAddress: .max, interruptedCount: 8,
      isInterruptedLater: true, restCount: 1 << 20, isRestLater: true)
    reply.stoppedNanoseconds = -1
    reply.takenAtNanoseconds = 1 << 60
    reply.isLast = true
    reply.areMapsAsKnown = true
    reply.bytes = [1, 2, 3]
    let decoded = try #require(CaptureReply(decoding: reply.encoded()))
    #expect(decoded.encoded() == reply.encoded())
    #expect(decoded.registers[Registers.programCounter] == 0)
    #expect(decoded.registers[Registers.framePointer] == nil)
    #expect(decoded.stack == reply.stack)
    #expect(decoded.isLast && decoded.areMapsAsKnown && decoded.failure == nil)
  }

  @Test("what a sample found in the kernel is told as addresses, that of a blocked thread as text")
  func kernelPartSurvives() throws {
    var sample = CaptureReply(id: 1)
    (sample.way, sample.kernelAddresses) = (.perf, [.max, 0xFFFF_FFFF_8100_0010])
    let decoded = try #require(CaptureReply(decoding: sample.encoded()))
    #expect(decoded.kernelAddresses == [.max, 0xFFFF_FFFF_8100_0010] && decoded.kernelStack == [])
    var copy = CaptureReply(id: 1)
    (copy.way, copy.bytes) = (.taskIterator, Array("[<0>] ep_poll+0x1/0x2".utf8))
    copy.kernelAddresses = []
    #expect(copy.kernelAddresses == [] && copy.kernelStack == copy.bytes)
  }

  @Test(arguments: [
    CaptureFailure.gone, .refused(.notPermitted), .timedOut, .moved, .running, .parked,
    .inFragileCall(number: 232), .uninterruptible, .stoppedBySignal, .traced(by: 77), .frozen, .dumpingCore,
    .kernelThread, .thirtyTwoBit, .stopsForbidden, .helperDied, .helperUnavailable(.noSpace), .malformedReply,
    .runningUnsampled(.notPermitted),
  ])
  func failureSurvives(failure: CaptureFailure) throws {
    let decoded = try #require(CaptureReply(decoding: CaptureReply(id: 1, failure: failure).encoded()))
    #expect(decoded.failure == failure)
    #expect(!failure.text.isEmpty)
  }

  @Test func groupSurvives() throws {
    var registers = Registers()
    registers[Registers.stackPointer] = .max
    registers[Registers.programCounter] = 0x1234
    let blocked = BlockedRegisters(threadID: 9, registers: registers, timesScheduled: 3, runNanoseconds: .max)
    let most = (0..<CaptureHelper.mostTogether).map {
      GroupMember(threadID: Int32($0), isParked: $0 == 2, blocked: $0 == 9 ? blocked : nil)
    }
    for members in [[], most] {
      var request = CaptureRequest(kind: .threads, processID: 12, threadID: 12)
      request.rules = CaptureRules(mayStop: false, isDump: true)
      request.members = members
      let decoded = try #require(CaptureRequest(decoding: request.encoded()))
      #expect(decoded == request && decoded.members == members)
    }
    var nonsense = CaptureRequest(kind: .threads, processID: 12, threadID: 12)
    nonsense.members = most + most
    #expect(nonsense.members == nil)
    nonsense.bytes = [1, 2, 3]
    #expect(nonsense.members == nil)
  }

  @Test(arguments: [0, 1, 8, 55, 63, 65, 247, 249, 9000])
  func refusesWrongLengths(length: Int) {
    let bytes = [UInt8](repeating: 0xFF, count: length)
    #expect(CaptureRequest(decoding: bytes) == nil)
    #expect(CaptureReply(decoding: bytes) == nil)
  }

  /// One word after another is replaced by the worst number; whatever comes out, nothing traps.
  @Test(arguments: 0..<31)
  func survivesHostileWords(index: Int) {
    for value in [UInt8(0xFF), 0x7F, 0x80] {
      var bytes = CaptureReply(id: 1).encoded()
      bytes.replaceSubrange(index * 8..<index * 8 + 8, with: [UInt8](repeating: value, count: 8))
      _ = CaptureReply(decoding: bytes)?.failure?.text
      var request = CaptureRequest(kind: .thread, processID: 1, threadID: 1).encoded()
      if index < 7 {
        request.replaceSubrange(index * 8..<index * 8 + 8, with: [UInt8](repeating: value, count: 8))
      }
      _ = CaptureRequest(decoding: request)
    }
    var way = CaptureReply(id: 1).encoded()
    way[3 * 8] = 4
    #expect(CaptureReply(decoding: way) == nil)
  }
}
