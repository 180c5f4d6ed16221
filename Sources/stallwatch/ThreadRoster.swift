// Which threads of the process are followed: as it was asked for, or as the search for the loop finds.

internal import CommandLineOptions
internal import Linux
internal import Observation
internal import Reports
internal import StallCore

struct ThreadRoster {
  private let choice: ThreadChoice
  private let pattern: ThreadNamePattern?
  private let process: Int32
  private let began: Instant
  /// When `proceed` has something to do.
  private(set) var nextScan: Instant
  private var search = LoopThreadSearch()
  private var mainQueue = MainQueueSearch()
  private var hasToldTooMany = false
  private var hasToldNone = false
  private var found: LoopThreadSearch.Finding?

  /// Each costs its own looks.
  private static let mostFollowed = 64
  private static let betweenScans: Duration = .seconds(1)
  /// Where the loop is looked for and not found, the distance grows up to this.
  private static let longestDistance: Duration = .seconds(16)
  private var distance = Self.betweenScans
  private static let patienceWithoutLoop: Duration = .seconds(6)
  /// The first thread shows within this time whether it runs a loop.
  private static let patience: Duration = .milliseconds(1500)

  init(_ choice: ThreadChoice, process: Int32, began: Instant) {
    self.choice = choice
    pattern = if case .named(let text) = choice { ThreadNamePattern(text) } else { nil }
    self.process = process
    self.began = began
    switch choice {
    case .main, .id: nextScan = Instant(nanoseconds: .max)
    case .all, .named: nextScan = began
    case .auto: nextScan = began + Self.patience
    }
  }

  /// Call when `nextScan` has come. Changes who is followed; `follow` makes one of them.
  mutating func proceed(
    at now: Instant, _ threads: inout [FollowedThread], _ context: WatchContext,
    follow: (ThreadRecord) -> FollowedThread?
  ) {
    nextScan = now + distance
    switch choice {
    case .main, .id: break
    case .all: followAll(&threads, context, where: { _ in true }, follow)
    case .named(let text):
      followAll(&threads, context, where: { [pattern] in pattern?.matches($0.bytes) ?? false }, follow)
      if threads.isEmpty, !hasToldNone {
        hasToldNone = true
        context.tell(.noLoop, "no thread is named \(text) so far; it is waited for")
      }
    case .auto: searchLoop(at: now, &threads, context, follow)
    }
  }

  private mutating func followAll(
    _ threads: inout [FollowedThread], _ context: WatchContext, where isWanted: (ByteString) -> Bool,
    _ follow: (ThreadRecord) -> FollowedThread?
  ) {
    context.retire(&threads) { $0.missedLooks > 1 }
    if hasToldTooMany, threads.count >= Self.mostFollowed { return }
    let living = (try? ThreadList.threads(of: process)) ?? []
    let new = living.filter { id in !threads.contains { $0.record.threadID == id } }
    for id in new.prefix(ThreadSurvey.mostThreads) {
      let name = ThreadSurvey.name(process, id)
      guard isWanted(name) else { continue }
      guard threads.count < Self.mostFollowed else {
        tellTooMany(context)
        return
      }
      let role: ThreadRole = id == process ? .main : .worker
      if let thread = follow(ThreadRecord(threadID: id, name: name, role: role)) { threads.append(thread) }
    }
  }

  private mutating func tellTooMany(_ context: WatchContext) {
    guard !hasToldTooMany else { return }
    hasToldTooMany = true
    context.tell(
      .threadFollowed,
      "only the first \(Self.mostFollowed) threads are followed; --thread name:GLOB chooses others")
  }

  /// The first thread is always followed; another one as long as that runs no loop.
  private mutating func searchLoop(
    at now: Instant, _ threads: inout [FollowedThread], _ context: WatchContext,
    _ follow: (ThreadRecord) -> FollowedThread?
  ) {
    guard let first = threads.first else { return }
    if first.runsLoop {
      if threads.count > 1 {
        context.tell(.threadFollowed, "the main thread runs a loop now; following it alone")
      }
      context.retire(&threads) { $0 !== first }
      context.loopThread = first.record.threadID
      found = nil
      distance = Self.longestDistance
      return
    }
    context.retire(&threads) { $0 !== first && $0.missedLooks > 1 }
    if threads.count > 1, threads[1].runsLoop {
      distance = Self.longestDistance
      return
    }
    if let finding = mainQueue.find(beside: first, context) {
      take(finding, beside: first, &threads, context)
      return
    }
    let others = ((try? ThreadList.threads(of: process)) ?? []).filter { $0 != first.record.threadID }
    let glances = ThreadSurvey.glances(process, others)
    let finding = search.find(in: glances)
    if finding == nil, now - began > Self.patienceWithoutLoop {
      tellNoLoop(glances, others.count, first, context)
    }
    distance = min(distance * (now - began > .seconds(10) ? 2 : 1), Self.longestDistance)
    guard let finding, finding.threadID != found?.threadID else { return }
    found = finding
    let record = ThreadRecord(threadID: finding.threadID, name: finding.name, role: .loop)
    guard let thread = follow(record) else { return }
    context.retire(&threads) { $0 !== first }
    threads.append(thread)
    context.loopThread = finding.threadID
    context.tell(.threadFollowed, sentence(finding, first))
  }

  private mutating func take(
    _ finding: MainQueueSearch.Finding, beside first: FollowedThread, _ threads: inout [FollowedThread],
    _ context: WatchContext
  ) {
    switch finding {
    case .queue(let queue):
      found = nil
      context.retire(&threads) { $0 !== first }
      threads.append(queue)
      context.tell(
        .threadFollowed,
        "the main thread runs no loop; following the main queue of libdispatch, which has no thread of its own"
      )
      if context.options.ping {
        context.tell(
          .ping, "the main queue is not pinged: who works for it is read from its memory, which tells more")
      }
    case .hidden:
      context.tell(
        .noLoop,
        "the main queue of libdispatch, which has no thread of its own, cannot be found in this program; "
          + "--thread all follows the threads that work for it")
    }
  }

  /// Once: what there is instead.
  private mutating func tellNoLoop(
    _ glances: [ThreadGlance], _ others: Int, _ first: FollowedThread, _ context: WatchContext
  ) {
    guard !hasToldNone, first.missedLooks == 0, context.options.home == nil else { return }
    hasToldNone = true
    var text = first.whyNoLoop
    if let doings = ThreadDoings(glances) {
      let threads = others == 1 ? "1 other thread" : "\(others) other threads"
      text += "; of \(threads) \(doings.sentence): --thread all follows all"
    }
    context.tell(.noLoop, text)
  }

  private func sentence(_ finding: LoopThreadSearch.Finding, _ first: FollowedThread) -> String {
    let why = first.missedLooks > 0 ? "the main thread has exited" : "the main thread runs no loop"
    let wait = finding.wait.map { ", which waits in \($0 == .ring ? "io_uring" : $0.rawValue)" } ?? ""
    var text = "\(why); following thread \(finding.threadID) \"\(finding.name.escaped)\"\(wait)"
    if !finding.others.isEmpty {
      let names = finding.others.prefix(3).map { "\"\($0.escaped)\"" }.joined(separator: ", ")
      text += "; \(finding.others.count) more wait like loops (\(names)): --thread all follows all"
    }
    return text
  }
}
