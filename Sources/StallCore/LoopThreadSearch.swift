// Which thread of a process behaves as its loop, where the first one does not.

/// A short look at one of many threads.
package struct ThreadGlance: Sendable {
  package var threadID: Int32
  package var name: ByteString
  /// What it waits in; nil if it runs, or is blocked in something that is no wait for events.
  package var wait: WaitKind?
  /// How often it was put on a CPU.
  package var timesScheduled: UInt64

  package init(threadID: Int32, name: ByteString, wait: WaitKind?, timesScheduled: UInt64) {
    self.threadID = threadID
    self.name = name
    self.wait = wait
    self.timesScheduled = timesScheduled
  }
}

package struct LoopThreadSearch: Sendable {
  package struct Finding: Sendable, Equatable {
    package var threadID: Int32
    package var name: ByteString
    package var wait: WaitKind?
    /// Others that wait as loops do, likeliest first.
    package var others: [ByteString]
  }

  /// What earlier glances saw of each thread.
  private var before: [Int32: (timesScheduled: UInt64, wait: WaitKind?)] = [:]

  package init() {}

  /// Takes in one glance at every thread but the first. Nil: none of them waits as a loop does, or it is too early to
  /// tell: who is more awake is known from two glances.
  package mutating func find(in glances: [ThreadGlance]) -> Finding? {
    let isFirst = before.isEmpty
    let ranked = glances.compactMap(candidate).sorted { $0.score > $1.score }
    before = Dictionary(
      glances.map { ($0.threadID, ($0.timesScheduled, waitSeen(of: $0))) }, uniquingKeysWith: { $1 })
    guard !isFirst, let best = ranked.first else { return nil }
    return Finding(
      threadID: best.glance.threadID, name: best.glance.name, wait: waitSeen(of: best.glance),
      others: ranked.dropFirst().map(\.glance.name))
  }

  /// What it waits in now, or waited in when it was last seen to.
  private func waitSeen(of glance: ThreadGlance) -> WaitKind? {
    if let wait = glance.wait, wait.rank >= 3 { return wait }
    return before[glance.threadID]?.wait ?? glance.wait
  }

  private func candidate(_ glance: ThreadGlance) -> (glance: ThreadGlance, score: Score)? {
    let isNamed = LoopThreadNames.isLoop(glance.name)
    let rank = waitSeen(of: glance)?.rank ?? 0
    guard isNamed || rank >= 3, !LoopThreadNames.isHelper(glance.name) else { return nil }
    let awake = before[glance.threadID].map { glance.timesScheduled &- $0.timesScheduled } ?? 0
    return (glance, Score(isNamed: isNamed, awake: min(awake, 1 << 40), rank: rank, age: -glance.threadID))
  }

  /// A name that says so, then who is more awake, then the likelier wait, then who was there first.
  private struct Score: Comparable {
    var isNamed: Bool
    var awake: UInt64
    var rank: Int
    var age: Int32

    static func < (left: Score, right: Score) -> Bool {
      (left.isNamed ? 1 : 0, left.awake, left.rank, left.age)
        < (right.isNamed ? 1 : 0, right.awake, right.rank, right.age)
    }
  }
}

/// Beginnings of thread names (15 bytes at most, prctl(2) PR_SET_NAME) that tell what a thread is for.
package enum LoopThreadNames {
  /// User interfaces and server frameworks name the thread that runs their loop.
  private static let loops = [
    "AWT-EventQueue", "JavaFX Applicat", "nioEventLoop", "epollEventLoop", "multiThreadIoEv",
    "vert.x-eventloo",
    "reactor-http", "reactor-tcp", "http-nio-", "io-loop", "ioloop", "io_loop", "event-loop", "event_loop",
    "eventloop", "EventLoop", "main-loop", "mainloop", "uv_loop", "asyncio", "ui-thread", "UIThread",
  ]
  /// Their loops serve the loop, not the program.
  private static let helpers = [
    "gmain", "gdbus", "dconf worker", "pool-", "QDBusConnection", "QXcbEventQueue", "QXcbEventReader",
    "libuv-worker", "pulse", "alsa", "pw-", "module-rt", "inotify", "signal",
  ]

  static func isLoop(_ name: ByteString) -> Bool { loops.contains { name.bytes.starts(with: $0.utf8) } }
  static func isHelper(_ name: ByteString) -> Bool {
    isOfDispatchPool(name) || helpers.contains { name.bytes.starts(with: $0.utf8) }
  }

  /// Named by the end of a root queue's label, such as `com.apple.root.default-qos.overcommit`; what runs there may be the
  /// library's own manager, which serves all timers and sources.
  package static func isOfDispatchPool(_ name: ByteString) -> Bool {
    let bytes = name.bytes
    return bytes.count >= 14
      && (bytes.suffix(4).elementsEqual("-qos".utf8)
        || bytes.suffix(15).elementsEqual("-qos.overcommit".utf8))
  }
}
