// Chains of locks: made-up waits, and what is said of them.

import Diagnosis
import StallCore
import Testing

@Suite struct LockChainTests {
  private func wait(
    _ waiter: Int32, for holder: Int32, times: UInt64 = 5, timeout: UInt64 = 0
  ) -> LockWait {
    let call = BlockedCall(
      number: SystemCallNumber.futex, arguments: InlineArguments(0x1000, 128, 2, timeout), stackPointer: 1,
      programCounter: 2)
    return LockWait(
      waiter: Evidence.Thread(id: waiter, name: nil), call: call, timesScheduled: times,
      lock: .mutex(owner: holder), holder: Evidence.Thread(id: holder, name: nil))
  }

  private func chain(_ waits: [LockWait]) -> LockChain {
    LockChain(from: 1) { thread in waits.first { $0.waiter.id == thread } }
  }

  private func cause(_ chain: LockChain) -> Cause { CauseRules.cause(of: evidence(chain)) }

  /// Without a chain: of a lock that could not be read.
  private func evidence(_ chain: LockChain?) -> Evidence {
    let call = wait(1, for: 2).call
    var evidence = Evidence(threadID: 1, state: .sleeping, activity: .blocked(call), stallClass: .blocked)
    guard let chain else { return evidence }
    evidence.lock = chain.waits.first?.lock ?? .mutex(owner: 2)
    evidence.holder = chain.waits.first?.holder ?? Evidence.Thread(id: 2, name: nil)
    evidence.chain = chain
    return evidence
  }

  @Test func ringsAreDeadlocks() {
    let ofTwo = chain([wait(1, for: 2), wait(2, for: 1)])
    #expect(ofTwo.end == .ring(from: 0))
    #expect(ofTwo.holders.map(\.id) == [2])
    #expect(cause(ofTwo).kind == .deadlock)
    #expect(cause(ofTwo).summary == "deadlock: it and thread 2 wait for each other")
    #expect(cause(ofTwo).confidence == .high)
    #expect(cause(ofTwo).evidence.contains("thread 2 waits for a mutex at 0x1000, held by thread 1"))
    #expect(cause(chain([wait(1, for: 1)])).summary == "deadlock: waiting for a mutex that it holds itself")
    #expect(
      cause(chain([wait(1, for: 2), wait(2, for: 3), wait(3, for: 1)])).summary
        == "deadlock: a ring of 3 threads that wait for each other, it and next thread 2")
  }

  @Test func whoWaitsForARingIsInADeadlockToo() {
    let found = chain([wait(1, for: 2), wait(2, for: 3), wait(3, for: 2)])
    #expect(found.end == .ring(from: 1))
    #expect(found.holders.map(\.id) == [2, 3])
    #expect(
      cause(found).summary == "deadlock: waiting for thread 2, which waits for thread 3 as that does for it")
  }

  /// The memory of the target, or the word of a lock that was just let go, may tell nobody's name at a later capture.
  @Test(arguments: [nil, .mutex(owner: nil), LockWord.other]) func theHolderThatAnOlderCaptureReadIsKept(
    lock: LockWord?
  ) {
    let older = evidence(chain([wait(1, for: 2), wait(2, for: 3)]))
    var newer = evidence(nil)
    newer.lock = lock
    #expect(CauseRules.cause(of: newer.completed(by: older)) == CauseRules.cause(of: older))
    newer.activity = .blocked(wait(1, for: 2, timeout: 0x7FFF_0000).call)
    #expect(CauseRules.cause(of: newer.completed(by: older)).summary.contains("held by") == false)
  }

  @Test func aBlockedStallThatIsCaughtRunningKeepsItsCause() {
    let older = evidence(chain([wait(1, for: 2)]))
    var newer = Evidence(threadID: 1, state: .running, activity: .running, stallClass: .blocked)
    #expect(CauseRules.cause(of: newer.completed(by: older)).kind == .mutex)
    newer.stallClass = .cpu
    #expect(CauseRules.cause(of: newer.completed(by: older)).kind == .userCPU)
  }

  @Test func anotherHolderIsNews() {
    let older = evidence(chain([wait(1, for: 2), wait(2, for: 3)]))
    var newer = evidence(nil)
    (newer.lock, newer.holder) = (.mutex(owner: 4), Evidence.Thread(id: 4, name: nil))
    #expect(
      CauseRules.cause(of: newer.completed(by: older)).summary == "waiting for a mutex held by thread 4")
    newer.holder = nil
    #expect(newer.completed(by: older).holder == nil, "the word names one that has ended")
    newer = evidence(nil)
    (newer.lock, newer.holder) = (.mutex(owner: 2), Evidence.Thread(id: 2, name: nil))
    #expect(newer.completed(by: older).chain == older.chain)
  }

  @Test func aRingInWhichSomebodyGivesUpEndsByItself() {
    let found = cause(chain([wait(1, for: 2), wait(2, for: 1, timeout: 0x7FFF_0000)]))
    #expect(found.kind == .mutex)
    #expect(
      found.summary == "waiting for a mutex held by thread 2, in a ring of waits that end by themselves")
  }

  @Test func chainsNameTheLastHolder() {
    let found = chain([wait(1, for: 2), wait(2, for: 3)])
    #expect(found.end == .free)
    #expect(found.lastHolder?.id == 3)
    #expect(cause(found).kind == .mutex)
    #expect(cause(found).summary == "waiting for a mutex held by thread 2, behind 2 locks thread 3")
  }

  /// Each lock was held so at some moment, but never all of them together.
  @Test func whatMovedBetweenTheReadingsIsNoRing() {
    var reads = 0
    let torn = LockChain(from: 1) { thread in
      reads += 1
      return thread == 1 ? wait(1, for: 2) : wait(2, for: 1, times: UInt64(reads))
    }
    #expect(torn.waits == [wait(1, for: 2)])
    #expect(torn.end == .free)
    #expect(cause(torn).kind == .mutex)
  }

  @Test func readsNoMoreThanSoManyLinks() {
    var reads = 0
    let endless = LockChain(from: 1) { thread in
      reads += 1
      return wait(thread, for: thread &+ 1)
    }
    #expect(endless.end == .tooLong)
    #expect(reads == 2 * LockChain.mostWaits)
    #expect(cause(endless).kind == .mutex)
  }
}
