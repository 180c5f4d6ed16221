// A recording as a whole: what stands in it beside the looks, found in one pass, so that a second one can judge.

package import StallCore

package struct Recording: Sendable {
  package let bytes: [UInt8]
  package let watch: RecordedWatch
  /// Both clocks, in the order of time.
  private var clocks: [RecordedClock] = []
  package private(set) var threads: [Int: RecordedThread] = [:]
  /// Those of one moment: the last one, which has the most names.
  private var stacks: [RecordedStack] = []
  private var stackPlaces: [StackKey: Int] = [:]
  package private(set) var notices: [RecordedNotice] = []
  package private(set) var busyThreads: [RecordedBusyThread] = []
  package private(set) var exit: RecordedExit?
  package private(set) var end: RecordedEnd?
  package private(set) var looksMissing = 0
  /// The longest time between two looks at a thread, as far as the watch meant it so.
  package private(set) var longestDistance: Duration = .zero
  /// Why it could not be read to its end.
  package private(set) var problem: RecordingProblem?

  /// Refuses what is no recording or cannot be understood; of one that is damaged the front is used.
  package init(_ bytes: [UInt8]) throws(RecordingProblem) {
    var reader = try RecordingReader(bytes)
    self.bytes = bytes
    guard case .watch(let watch) = try reader.next() else {
      throw .damaged(atByte: RecordingFormat.magic.count + 1)
    }
    self.watch = watch
    var lastLooks: [Int: Instant] = [:]
    do throws(RecordingProblem) {
      while let entry = try reader.next() { take(entry, &lastLooks) }
    } catch { problem = error }
    clocks.sort { $0.at < $1.at }
    notices.sort { $0.at < $1.at }
    stacks.sort { $0.at < $1.at }
    stackPlaces = [:]
  }

  private mutating func take(_ entry: RecordingEntry, _ lastLooks: inout [Int: Instant]) {
    switch entry {
    case .watch, .worker, .threadMissed, .threadEnded, .programReplaced, .sightChanged, .judged, .learned,
      .gap, .phaseFact, .background, .surroundings, .probed, .pingTaken:
      break
    case .threadBegan(let thread): threads[thread.index] = thread
    case .clock(let clock): clocks.append(clock)
    case .look(let look):
      let at = look.observation.at
      if let last = lastLooks.updateValue(at, forKey: look.thread) {
        longestDistance = max(longestDistance, at - last - look.late)
      }
    case .looksMissing(let count):
      looksMissing += count
      lastLooks = [:]
    case .notice(let notice): notices.append(notice)
    case .stack(let stack): take(stack)
    case .busyThread(let busy): busyThreads.append(busy)
    case .exit(let exit): self.exit = exit
    case .end(let end): self.end = end
    }
  }

  private mutating func take(_ stack: RecordedStack) {
    let key = StackKey(at: stack.at, threadID: stack.stack.threadID)
    if let place = stackPlaces[key] {
      stacks[place] = stack
    } else {
      stackPlaces[key] = stacks.count
      stacks.append(stack)
    }
  }

  private struct StackKey: Hashable {
    var at: Instant
    var threadID: Int32
  }

  /// The wall clock at a moment, by the last reading before it, or else by the first.
  package func wallMicroseconds(at moment: Instant) -> Int64 {
    guard let clock = clocks.last(where: { $0.at <= moment }) ?? clocks.first else { return 0 }
    return clock.wallMicroseconds + (moment.microseconds - clock.at.microseconds)
  }

  /// What a thread was last seen to do between two moments.
  package func stack(of threadID: Int32, from start: Instant, before end: Instant) -> RecordedStack? {
    stacks.last { $0.stack.threadID == threadID && $0.at >= start && $0.at < end }
  }
}
