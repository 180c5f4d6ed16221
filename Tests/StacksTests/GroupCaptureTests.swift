// Several threads of a program copied by one question.

import Glibc
import Linux
import Stacks
import StallCore
import TestSupport
import Testing

@Suite struct GroupCaptureTests {
  private static let still = CaptureRules(mayStop: false, isDump: true)

  private static func sleepers(_ target: borrowing TargetProcess) throws -> [Int32] {
    let process = target.processID
    let threads = try ThreadList.threads(of: process).filter { $0 != process }
    // 34 is `pause`.
    let areParked = eventually {
      threads.allSatisfy { (try? readPseudoFile("/proc/\($0)/syscall"))?.starts(with: "34 ".utf8) == true }
    }
    #expect(areParked)
    return threads
  }

  /// Each gets the bytes of its own stack, though all lie in one file.
  @Test func stacksOfSeveralThreadsAreKeptApart() throws {
    let target = try TargetProcess.start("parked-crowd", "20")
    let threads = try Self.sleepers(target)
    var helper = testHelper()
    let members = threads.map { GroupMember(threadID: $0) }
    let results = try helper.capture(
      processID: target.processID, together: members, rules: Self.still, deadline: patience
    ).results
    #expect(results.count == threads.count)
    for (thread, result) in zip(threads, results) {
      let together = try result.get().snapshot()
      let alone = try helper.capture(
        processID: target.processID, threadID: thread, rules: Self.still, deadline: patience
      ).snapshot()
      #expect(together.threadID == thread && together.stoppedFor == .zero)
      #expect(together.stackAddress == alone.stackAddress && together.stackBytes == alone.stackBytes)
      #expect(!together.stackBytes.isEmpty)
    }
  }

  @Test func oneThatHasEndedCostsTheOthersNothing() throws {
    let target = try TargetProcess.start("parked-crowd", "2")
    let threads = try Self.sleepers(target)
    var helper = testHelper()
    let members = [threads[0], 0x3FFF_FFFF, threads[1]].map { GroupMember(threadID: $0) }
    let results = try helper.capture(
      processID: target.processID, together: members, rules: Self.still, deadline: patience
    ).results
    #expect(results.map { (try? $0.get().threadID) } == [threads[0], nil, threads[1]])
    #expect(throws: CaptureFailure.gone) { _ = try results[1].get() }
  }

  @Test("a group question holds nobody: whoever needs that is asked for alone")
  func nobodyIsHeld() throws {
    let target = try TargetProcess.start("parked-crowd", "3")
    let threads = try Self.sleepers(target)
    var helper = testHelper()
    let results = try helper.capture(
      processID: target.processID, together: threads.map { GroupMember(threadID: $0) }, rules: CaptureRules(),
      deadline: patience
    ).results
    for result in results { #expect(throws: CaptureFailure.timedOut) { _ = try result.get() } }
  }

  @Test("a list of mappings is told once, and again when it has changed")
  func mappingsAreToldOnce() throws {
    var target = try TargetProcess.start("maps-when-told")
    let process = target.processID
    var helper = testHelper()
    let none = try Self.mapsOfCopies(process, by: &helper)
    let first = try helper.readMaps(processID: process, threadID: process, deadline: patience)
    let again = try helper.readMaps(processID: process, threadID: process, deadline: patience)
    let withCopies = try Self.mapsOfCopies(process, by: &helper)
    #expect(none == nil && again === first && withCopies === first)

    target.signal(SIGUSR1)
    let news = try target.readLine()
    let changed = try Self.mapsOfCopies(process, by: &helper)
    let second = try helper.readMaps(processID: process, threadID: process, deadline: patience)
    let withCopiesAgain = try Self.mapsOfCopies(process, by: &helper)
    #expect(news == "mapped" && changed == nil && withCopiesAgain === second)
    #expect(try Self.text(second) != Self.text(first))

    // Another helper has told nothing yet.
    helper.rest()
    let unknown = try Self.mapsOfCopies(process, by: &helper)
    let third = try helper.readMaps(processID: process, threadID: process, deadline: patience)
    #expect(unknown == nil && third !== second)
    #expect(try Self.text(third) == Self.text(second))

    let other = try TargetProcess.start("pause")
    let others = try helper.readMaps(
      processID: other.processID, threadID: other.processID, deadline: patience)
    let forgotten = try Self.mapsOfCopies(process, by: &helper)
    #expect(try forgotten == nil && Self.text(others) != Self.text(third))
  }

  private static func mapsOfCopies(_ process: Int32, by helper: inout CaptureHelper) throws -> SealedBytes? {
    try helper.capture(
      processID: process, together: [GroupMember(threadID: process)], rules: still, asksForMaps: true,
      deadline: patience
    ).maps
  }

  private static func text(_ maps: SealedBytes) throws -> [UInt8] { try maps.bytes(limit: 1 << 20) }
}
