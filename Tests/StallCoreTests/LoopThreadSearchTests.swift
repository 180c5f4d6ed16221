// Which thread behaves as the loop, from glances at all of them.

import StallCore
import Testing

@Suite struct LoopThreadSearchTests {
  private func glance(_ id: Int32, _ name: ByteString, _ wait: WaitKind?, _ times: UInt64) -> ThreadGlance {
    ThreadGlance(threadID: id, name: name, wait: wait, timesScheduled: times)
  }

  @Test("SW-04: the pool of libdispatch, its manager included, runs no loop of the program")
  func poolOfDispatchIsNoLoop() {
    let names: [ByteString] = ["-qos.overcommit", "oot.default-qos", ".background-qos", "interactive-qos"]
    var search = LoopThreadSearch()
    let glances = names.enumerated().map { glance(Int32($0 + 2), $1, .epoll, 5) }
    _ = search.find(in: glances)
    #expect(search.find(in: glances) == nil)
    #expect(!LoopThreadNames.isOfDispatchPool("qos") && !LoopThreadNames.isOfDispatchPool("io-loop"))
  }

  @Test func whatThreadsDoIsSaidByNumbers() {
    let glances = [
      glance(2, "a", .futex, 1), glance(3, "b", .sleep, 1), glance(4, "c", .futex, 1), glance(5, "d", nil, 1),
    ]
    #expect(ThreadDoings(glances)?.sentence == "2 wait to be woken, 1 run or do other things, 1 sleep")
    #expect(ThreadDoings([]) == nil)
  }

  @Test func oneGlanceIsNotEnough() {
    var search = LoopThreadSearch()
    #expect(search.find(in: [glance(2, "io", .epoll, 5)]) == nil)
    #expect(search.find(in: [glance(2, "io", .epoll, 5)])?.threadID == 2)
  }

  @Test func threadThatIsMoreAwakeIsLikelier() {
    var search = LoopThreadSearch()
    _ = search.find(in: [glance(2, "a", .epoll, 5), glance(3, "b", .poll, 5), glance(4, "c", .futex, 5)])
    let found = search.find(in: [
      glance(2, "a", .epoll, 6), glance(3, "b", .poll, 90), glance(4, "c", .futex, 900),
    ])
    #expect(found?.threadID == 3)
    #expect(found?.others == ["a"])
  }

  @Test func nameThatSaysSoCountsMost() {
    var search = LoopThreadSearch()
    let glances = [glance(2, "a", .epoll, 5), glance(9, "AWT-EventQueue-", .futex, 5)]
    _ = search.find(in: glances)
    #expect(search.find(in: glances)?.threadID == 9)
  }

  @Test func helpersOfLibrariesAreNoLoops() {
    var search = LoopThreadSearch()
    let glances = [
      glance(2, "gmain", .poll, 5), glance(3, "gdbus", .poll, 7), glance(4, "worker", .futex, 1),
    ]
    _ = search.find(in: glances)
    #expect(search.find(in: glances) == nil)
  }

  @Test func loopThatIsAtWorkIsRemembered() {
    var search = LoopThreadSearch()
    _ = search.find(in: [glance(2, "a", .epoll, 5)])
    let found = search.find(in: [glance(2, "a", nil, 8)])
    #expect(found?.threadID == 2 && found?.wait == .epoll)
  }
}
