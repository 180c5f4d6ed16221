// When a block began, by the clock of a CPU and by looks.

import StallCore
import Testing

@Suite struct BlockStartTests {
  private func moment(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

  private func start(_ latest: Int64, _ earliest: Int64?, elsewhere: Int64? = nil) -> BlockStart? {
    BlockStart(
      by: BlockStart(latest: moment(latest), earliest: earliest.map(moment)), after: elsewhere.map(moment),
      at: moment(10_000))
  }

  @Test func clockBoundsItFromBothSides() {
    #expect(start(9_500, 9_490) == BlockStart(latest: moment(9_500), earliest: moment(9_490)))
    #expect(start(9_500, nil) == BlockStart(latest: moment(9_500)))
  }

  @Test func looksBoundItToo() {
    #expect(start(9_500, 9_490, elsewhere: 9_495)?.earliest == moment(9_495))
    #expect(start(9_500, nil, elsewhere: 9_495)?.earliest == moment(9_495))
    #expect(start(10_003, 9_990) == BlockStart(latest: moment(10_000), earliest: moment(9_990)))
  }

  /// Of another CPU than that on which it was noted: eight seconds were seen where a hypervisor stole from one only.
  @Test func clockOfAnotherProcessorTellsNothing() {
    #expect(start(1_500, 1_490, elsewhere: 9_450) == nil)
    #expect(start(17_500, 17_490, elsewhere: 9_450) == nil)
    #expect(start(17_500, nil) == nil)
  }
}
