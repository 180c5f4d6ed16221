// When a set is read, and when it is taken to be the one before.

import Observation
import StallCore
import Testing

@Suite struct DescriptorCacheTests {
  private static let first = DescriptorSet([3, 4])
  private static let other = DescriptorSet([17])

  private func call(_ address: UInt64) -> BlockedCall {
    BlockedCall(
      number: SystemCallNumber.poll, arguments: InlineArguments(address, 2), stackPointer: 1,
      programCounter: 2)
  }

  private func moment(_ milliseconds: Int64) -> Instant {
    Instant(nanoseconds: milliseconds * 1_000_000 + 1 << 40)
  }

  @Test func sameCallInANewBlockIsNotReadAtOnce() {
    var cache = DescriptorCache()
    var reads = 0
    func look(_ block: UInt64, at time: Int64, _ set: DescriptorSet?) -> DescriptorSet? {
      cache.descriptors(of: call(0x5000), block: block, at: moment(time)) {
        reads += 1
        return set
      }
    }
    #expect(look(1, at: 0, Self.first) == Self.first && reads == 1)
    #expect(look(1, at: 250, Self.other) == Self.first && reads == 1)
    #expect(look(2, at: 500, Self.other) == Self.first && reads == 1)
    // It stays: now it matters.
    #expect(look(2, at: 750, Self.other) == Self.other && reads == 2)
    #expect(look(2, at: 1000, nil) == Self.other && reads == 2)
    // Not for ever unread.
    for block in 3..<11 { _ = look(UInt64(block), at: 1000 + Int64(block) * 200, Self.first) }
    #expect(reads == 3)
  }

  @Test func otherCallIsRead() {
    var cache = DescriptorCache()
    _ = cache.descriptors(of: call(0x5000), block: 1, at: moment(0)) { Self.first }
    #expect(cache.descriptors(of: call(0x6000), block: 2, at: moment(1)) { Self.other } == Self.other)
  }

  @Test func failedReadIsTriedAgainLater() {
    var cache = DescriptorCache()
    #expect(cache.descriptors(of: call(0x5000), block: 1, at: moment(0)) { nil } == nil)
    #expect(cache.descriptors(of: call(0x5000), block: 1, at: moment(500)) { Self.first } == nil)
    #expect(cache.descriptors(of: call(0x5000), block: 1, at: moment(1500)) { Self.first } == Self.first)
  }
}
