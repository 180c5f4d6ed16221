// `--wait`: waits, at little cost, until a process of that name is there.

internal import Linux
internal import StallCore

struct NameWait {
  private let search: ProcessSearch
  private var seenID: [UInt8]?
  private var notBefore = Instant(nanoseconds: 0)
  private var atLatest = Instant(nanoseconds: 0)

  private static let pauseMilliseconds: Int32 = 250
  /// A process may take another name without being started anew.
  private static let longestPause = Duration.seconds(2)
  private static let mostOwnShare = 100

  init(_ search: ProcessSearch) { self.search = search }

  /// The oldest of that name. Nil: a signal asked to end, or the time is over.
  consuming func next(
    until end: Instant?, _ signals: borrowing SignalDescriptor, isEnd: (ReceivedSignal) -> Bool
  ) -> Int32? {
    var poll = PollSet([signals.rawValue])
    while true {
      while let signal = signals.next() { if isEnd(signal) { return nil } }
      let now = Instant(nanoseconds: Clock.monotonicNanoseconds)
      if let end, now >= end { return nil }
      if let id = look(at: now) { return id }
      try? poll.wait(timeoutMilliseconds: Self.pauseMilliseconds)
    }
  }

  /// Only when a process was started since the last time, and for a hundredth of a core; but every two seconds anyway.
  private mutating func look(at now: Instant) -> Int32? {
    let lastID = ProcessTable.lastID
    guard now >= notBefore, lastID == nil || lastID != seenID || now >= atLatest else { return nil }
    let found = search.all().first?.id
    let done = Instant(nanoseconds: Clock.monotonicNanoseconds)
    (seenID, atLatest) = (lastID, done + Self.longestPause)
    notBefore = done + min((done - now) * Self.mostOwnShare, Self.longestPause)
    return found
  }
}
