// The main queue of libdispatch: what its words say, and how a queue that goes from thread to thread is judged.

import StallCore
import Testing

@Suite struct MainQueueTests {
  /// As libdispatch leaves them, with this lock and this first block.
  private func words(lock: UInt32, head: UInt64 = 0) -> [UInt8] {
    var words = [UInt64](repeating: 0, count: 14)
    (words[1], words[7], words[8], words[13]) = (
      0x7FFF_FFFF_7FFF_FFFF, 0x1FFE_1000_0000_0000 | UInt64(lock), 1, head
    )
    return words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64($0 * 8)) } }
  }

  private func sight(_ bytes: [UInt8]) -> MainQueueSight? { MainQueueSight(bytes.span) }

  @Test("SW-04: the lock word tells who works for the queue")
  func lockTellsOwner() {
    #expect(sight(words(lock: 0)) == MainQueueSight(owner: nil))
    #expect(sight(words(lock: 23213)) == MainQueueSight(owner: 23213))
    #expect(sight(words(lock: 0x8000_0000)) == MainQueueSight(owner: nil, waitsForThread: true))
    #expect(
      sight(words(lock: 0xC000_5AAD, head: 0x7F00))
        == MainQueueSight(owner: 0x5AAD, nextBlock: 0x7F00))
  }

  @Test func otherWordsAreNoMainQueue() {
    #expect(sight([UInt8](repeating: 0, count: 112)) == nil)
    #expect(sight(words(lock: 1).dropLast()) == nil)
    for index in [8, 64] {
      var damaged = words(lock: 1)
      damaged[index] ^= 1
      #expect(sight(damaged) == nil)
    }
  }

  /// A queue whose looks the tests write down.
  private struct Queue {
    var role = QueueThread()
    var detector = StallDetector(threshold: .milliseconds(500), interval: nil, home: .mainQueue)
    var stalls: [Stall] = []

    mutating func rest(at moment: Instant) { observe(role.rest(at: moment)) }

    mutating func work(_ script: LoopScript, of thread: Int32, next: UInt64? = nil) {
      let sight = MainQueueSight(owner: thread, nextBlock: next)
      observe(role.stay(script.look) ?? role.work(script.look, of: thread, sight), script.blockStart())
    }

    private mutating func observe(_ look: ThreadObservation, _ blockStart: BlockStart? = nil) {
      switch detector.observe(look, blockStart: { blockStart }).action {
      case .none: break
      case .report(let stall), .captureAndReport(let stall): stalls.append(stall)
      }
    }
  }

  @Test("SW-04: a block that sleeps is a stall, from rest to rest")
  func sleepingBlockIsAStall() throws {
    var (queue, script) = (Queue(), LoopScript())
    queue.rest(at: script.now)
    script.run(.milliseconds(1))
    script.block(in: SystemCallNumber.clockNanosleep)
    for _ in 0..<14 {
      script.wait(.milliseconds(50))
      queue.work(script, of: 7)
    }
    queue.rest(at: script.now)
    let ended = try #require(queue.stalls.last)
    #expect(ended.state == .ended && ended.proof == .didNotMove)
    #expect((650...701).contains(ended.duration.likely.milliseconds))
  }

  @Test("SW-04: a queue that changes its thread has come round")
  func changeOfThreadIsAPass() {
    var (queue, script, other) = (Queue(), LoopScript(), LoopScript())
    queue.rest(at: script.now)
    for turn in 0..<20 {
      script.run(.milliseconds(100))
      other.run(.milliseconds(100))
      if turn.isMultiple(of: 2) { queue.work(script, of: 7) } else { queue.work(other, of: 8) }
    }
    queue.rest(at: script.now)
    #expect(queue.stalls.isEmpty)
  }

  @Test("SW-04: a queue that gets through its blocks does not stall")
  func nextBlockThatChangesIsAPass() {
    for isMoving in [true, false] {
      var (queue, script) = (Queue(), LoopScript())
      queue.rest(at: script.now)
      for turn in 0..<20 {
        script.run(.milliseconds(50))
        queue.work(script, of: 7, next: isMoving ? 0x1000 + UInt64(turn) : 0x1000)
      }
      queue.rest(at: script.now)
      #expect(queue.stalls.isEmpty == isMoving)
      #expect(queue.stalls.allSatisfy { !$0.isVerified })
    }
  }

  @Test("SW-04: the time before a queue was taken is not the block's")
  func timeBeforeTheQueueWasTakenDoesNotCount() {
    var (queue, script) = (Queue(), LoopScript())
    for _ in 0..<5 {
      queue.rest(at: script.now)
      // Other work of the same thread.
      script.run(.milliseconds(400))
      queue.work(script, of: 7)
      script.run(.milliseconds(50))
      queue.work(script, of: 7)
    }
    queue.rest(at: script.now)
    #expect(queue.stalls.isEmpty)
  }

  @Test func queueThatIsNeverAtRestIsJudgedAllTheSame() {
    var (queue, script) = (Queue(), LoopScript())
    script.block(in: SystemCallNumber.futex)
    for _ in 0..<14 {
      script.wait(.milliseconds(50))
      queue.work(script, of: 7)
    }
    #expect(queue.stalls.contains { $0.isVerified && $0.duration.atMost == nil })
  }
}
