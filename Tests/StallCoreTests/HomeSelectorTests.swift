// How a person says where the loop parks, and which waits are meant.

import StallCore
import Testing

private typealias Call = SystemCallNumber

@Suite struct HomeSelectorTests {
  @Test(arguments: [
    ("epoll", "epoll"), ("epoll:7", "epoll:7"), ("epoll 7", "epoll:7"), ("epoll 7 (libuv)", "epoll:7"),
    ("epoll 7 (libuv), parked 99 %", "epoll:7"), ("poll", "poll"), ("poll of 3 descriptors (GLib)", "poll"),
    ("poll of 1 descriptor", "poll"), ("io_uring 4", "ring:4"), ("registered io_uring 0", "ring:0"),
    ("ring", "ring"), ("accept:3", "accept:3"), ("accept on 3", "accept:3"), ("reading 5", "read:5"),
    ("fd:5", "fd:5"), ("sleep", "sleep"), ("sleeping", "sleep"), ("waiting for children", "children"),
    ("waiting for signals", "signal"), ("waiting to be woken (futex)", "futex"), ("a message queue", "queue"),
    ("some epoll", "epoll"),
  ])
  func ownWordsAndThoseOfRemarksAreRead(_ text: String, _ meant: String) {
    #expect(HomeSelector(text)?.text == meant)
  }

  @Test(arguments: [
    "", "7", "fd", "fd:", "fd:x", "epoll:-1", "epoll:99999999999", "sleep:3", "epoll:7:8", "epolll",
    "poll of many",
  ])
  func whatNamesNoWaitIsRefused(_ text: String) {
    #expect(HomeSelector(text) == nil)
  }

  @Test(arguments: [
    ("7", "fd:7"), ("epoll_wait", "epoll"), ("epoll=7", "epoll:7"), ("select", "poll"),
    ("io_uring_enter", "ring"),
    ("nanosleep", "sleep"), ("waitpid", "children"), ("sigsuspend", "signal"), ("fd5", "fd:5"),
    ("sleep:3", "sleep"),
    ("xyz", nil),
  ])
  func likelyMeaningIsTold(_ text: String, _ likely: String?) {
    #expect(HomeSelector.likely(for: text) == likely)
  }

  private func site(_ number: Int, _ first: UInt64 = 0, third: UInt64 = 0, set: [Int32]? = nil) -> Site? {
    var script = LoopScript()
    script.block(in: number, first, third: third, set: set)
    guard case .blocked(let call) = script.look.activity else { return nil }
    return Site(call, descriptors: set.map { DescriptorSet($0) })
  }

  @Test func selectorsMeanTheirWaits() throws {
    let epoll = try #require(site(Call.epollWait, 7)), poll = try #require(site(Call.poll, 1, set: [3, 5]))
    let accept = try #require(site(Call.accept, 3)), sleep = try #require(site(Call.nanosleep))
    let sites = [epoll, poll, accept, sleep]
    for (text, expected) in [
      ("epoll", [true, false, false, false]), ("epoll:7", [true, false, false, false]),
      ("epoll:8", [false, false, false, false]), ("poll", [false, true, false, false]),
      ("fd:5", [false, true, false, false]), ("fd:3", [false, true, true, false]),
      ("fd:7", [true, false, false, false]), ("accept:3", [false, false, true, false]),
      ("read:3", [false, false, false, false]), ("sleep", [false, false, false, true]),
    ] {
      #expect(sites.map { HomeSelector(text)?.matches($0) } == expected, "\(text)")
    }
  }

  @Test func kindsAreAllThatCountsWithoutRights() {
    #expect(HomeSelector("epoll:7")?.matches(Site(.epoll)) == true)
    #expect(HomeSelector("epoll:7")?.matches(Site(.sleep)) == false)
    #expect(HomeSelector("fd:3")?.matches(Site(.input)) == true)
    #expect(HomeSelector("fd:3")?.matches(Site(.futex)) == false)
    #expect(HomeSelector("sleep")?.matches(Site(.unseen)) == true)
  }

  /// What a remark calls a home names it on the command line, too.
  @Test func remarkCanBeTypedAgain() throws {
    for site in [
      site(Call.epollWait, 7), site(Call.poll, 1, set: [3, 5]), site(Call.accept, 3), site(Call.read, 3),
      site(Call.nanosleep), site(Call.pause), site(Call.futex), site(Call.wait4), site(Call.msgrcv, 4),
    ] {
      let home = HomeCandidate(try #require(site), at: Instant(nanoseconds: 0), wasFoundHere: true)
      #expect(HomeSelector(home.spoken)?.matches(home.site) == true, "\(home.spoken)")
      #expect(HomeSelector(home) != nil && HomeSelector(HomeSelector(home)!.text) == HomeSelector(home))
    }
  }
}
