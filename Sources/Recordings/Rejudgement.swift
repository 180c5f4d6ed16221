// Judges the looks of a recording again, as the watch would with another threshold.

package import StallCore

/// What the judgement says at one look.
package struct RejudgedAction: Sendable {
  package var action: StallAction
  /// The index of the thread.
  package var thread: Int
  package var at: Instant
  /// When the next look came: what was captured before that belongs to this one.
  package var before: Instant
}

package struct Rejudgement {
  private let threshold: Duration
  private let interval: Duration?
  private let home: HomeSelector?
  private let hasExited: Bool
  private var reader: RecordingReader
  private var detectors: [Int: StallDetector] = [:]
  private var unjudged: Set<Int> = []
  /// Of the last look, and of what came after it: it is not known yet when the next look comes.
  private var waiting: [RejudgedAction] = []
  /// The moment of the last look.
  package private(set) var now = Instant(nanoseconds: 0)
  package private(set) var isAtEnd = false
  package private(set) var looks = 0
  package private(set) var lateLooks = 0

  /// `home`: where the loop parks, if a person says it; else as it was said when it was recorded.
  package init(
    _ recording: Recording, threshold: Duration, home: HomeSelector? = nil
  ) throws(RecordingProblem) {
    self.home = home ?? recording.watch.home
    reader = try RecordingReader(recording.bytes)
    self.threshold = threshold
    interval = threshold == recording.watch.threshold ? recording.watch.interval : nil
    hasExited = recording.exit != nil
  }

  /// Goes on to the next look that was due, and answers what was said before it.
  package mutating func next() -> [RejudgedAction] {
    while !isAtEnd {
      // What cannot be read ends it; `Recording` knows why.
      guard let entry = try? reader.next() else {
        end(hasExited ? .targetExited : .watchEnded)
        return release(before: Instant(nanoseconds: .max))
      }
      if case .look(let look) = entry, !look.isAfterCapture {
        let said = release(before: look.observation.at)
        judge(look)
        return said
      }
      take(entry)
    }
    return []
  }

  /// As if the watch had ended here.
  package mutating func stop() -> [RejudgedAction] {
    if !isAtEnd { end(.watchEnded) }
    return release(before: Instant(nanoseconds: .max))
  }

  /// Of all threads together.
  package var statistics: LoopStatistics {
    var sum = LoopStatistics()
    for thread in detectors.keys.sorted() {
      if let detector = detectors[thread] { sum.add(detector.statistics) }
    }
    return sum
  }

  package var isStalled: Bool { detectors.values.contains { $0.isStalled } }

  private mutating func take(_ entry: RecordingEntry) {
    switch entry {
    case .look(let look): detectors[look.thread]?.absorbCapture(look.observation)
    case .threadEnded(let thread, let moment, let reason):
      now = max(now, moment)
      interrupt(thread, reason)
    case .programReplaced(let thread): forget(thread, .targetReplaced)
    case .sightChanged(let thread): forget(thread, .rightsChanged)
    case .learned(let thread, let meaning, let site): detectors[thread]?.learn(meaning, of: site)
    case .judged(let thread, let isJudged):
      if isJudged { unjudged.remove(thread) } else { unjudged.insert(thread) }
      detectors[thread]?.isBlindToLoop = !isJudged
    case .watch, .threadBegan, .clock, .looksMissing, .notice, .stack, .busyThread, .exit, .end: break
    }
  }

  private mutating func judge(_ look: RecordedLook) {
    var observation = look.observation
    now = observation.at
    // The detector asks for it again where it matters.
    let blockedSince = observation.blockedSince
    observation.blockedSince = nil
    let thread = look.thread
    if detectors[thread] == nil { detectors[thread] = newDetector(thread) }
    guard let alertInterval = detectors[thread]?.alertInterval,
      let action = detectors[thread]?.observe(observation, blockStart: { blockedSince }).action
    else { return }
    looks += 1
    if look.late > alertInterval { lateLooks += 1 }
    say(action, thread)
  }

  private func newDetector(_ thread: Int) -> StallDetector {
    var detector = StallDetector(threshold: threshold, interval: interval, home: home)
    detector.isBlindToLoop = unjudged.contains(thread)
    return detector
  }

  private mutating func say(_ action: StallAction, _ thread: Int) {
    if action == .none { return }
    waiting.append(RejudgedAction(action: action, thread: thread, at: now, before: now))
  }

  private mutating func interrupt(_ thread: Int, _ reason: Interruption) {
    if let action = detectors[thread]?.interrupt(reason) { say(action, thread) }
  }

  /// Nothing learned is true of what comes.
  private mutating func forget(_ thread: Int, _ reason: Interruption) {
    interrupt(thread, reason)
    detectors[thread]?.forget()
  }

  private mutating func end(_ reason: Interruption) {
    isAtEnd = true
    for thread in detectors.keys.sorted() { interrupt(thread, reason) }
  }

  private mutating func release(before moment: Instant) -> [RejudgedAction] {
    defer { waiting = [] }
    return waiting.map {
      var said = $0
      said.before = moment
      return said
    }
  }
}
