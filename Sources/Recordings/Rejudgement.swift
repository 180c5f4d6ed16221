// Judges the looks of a recording again, as the watch would with another threshold.

package import StallCore

/// What the judgement says at one look.
package struct RejudgedAction: Sendable {
  package var action: StallAction
  package var thread: Int
  package var at: Instant
  /// When the next look came: what was captured before that belongs to this one.
  package var before: Instant
}

package struct Rejudgement {
  private let threshold: Duration
  private let interval: Duration?
  private let hasExited: Bool
  private var reader: RecordingReader
  private var detectors: [Int: StallDetector] = [:]
  private var isJudged = true
  private var latest = Instant(nanoseconds: 0)
  /// Of the last look, and of what came after it: it is not known yet when the next look comes.
  private var waiting: [RejudgedAction] = []
  package private(set) var isAtEnd = false
  package private(set) var looks = 0
  package private(set) var lateLooks = 0

  package init(_ recording: Recording, threshold: Duration) throws(RecordingProblem) {
    reader = try RecordingReader(recording.bytes)
    self.threshold = threshold
    interval = threshold == recording.watch.threshold ? recording.watch.interval : nil
    hasExited = recording.exit != nil
  }

  /// Goes on to the next look that was due, and answers what was said up to it.
  package mutating func next() -> [RejudgedAction] {
    while !isAtEnd {
      // What cannot be read ends it; `Recording` has said so.
      guard let entry = try? reader.next() else {
        finish()
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

  /// The moment of the last look.
  package var now: Instant { latest }

  /// Of the followed thread; of several, the first.
  package var statistics: LoopStatistics {
    detectors.min { $0.key < $1.key }?.value.statistics ?? LoopStatistics()
  }

  package var isStalled: Bool { detectors.values.contains { $0.isStalled } }

  private mutating func take(_ entry: RecordingEntry) {
    switch entry {
    case .look(let look): detectors[look.thread]?.absorbCapture(look.observation)
    case .threadEnded(let thread, let moment):
      latest = max(latest, moment)
      interrupt(thread, .threadEnded)
    case .programReplaced: forget(.targetReplaced)
    case .sightChanged: forget(.rightsChanged)
    case .judged(let isJudged):
      self.isJudged = isJudged
      for thread in detectors.keys { detectors[thread]?.isBlindToLoop = !isJudged }
    case .watch, .threadBegan, .clock, .looksMissing, .notice, .stack, .busyThread, .exit, .end: break
    }
  }

  private mutating func judge(_ look: RecordedLook) {
    var observation = look.observation
    latest = observation.at
    // The detector asks for it again where it matters.
    let blockedSince = observation.blockedSince
    observation.blockedSince = nil
    var detector = detectors[look.thread] ?? newDetector
    looks += 1
    if look.late > detector.alertInterval { lateLooks += 1 }
    let (action, _) = detector.observe(observation) { blockedSince }
    detectors[look.thread] = detector
    say(action, look.thread)
  }

  private var newDetector: StallDetector {
    var detector = StallDetector(threshold: threshold, interval: interval)
    detector.isBlindToLoop = !isJudged
    return detector
  }

  private mutating func say(_ action: StallAction, _ thread: Int) {
    if action == .none { return }
    waiting.append(RejudgedAction(action: action, thread: thread, at: latest, before: latest))
  }

  private mutating func interrupt(_ thread: Int, _ reason: Interruption) {
    if let action = detectors[thread]?.interrupt(reason) { say(action, thread) }
  }

  /// Nothing learned is true of what comes.
  private mutating func forget(_ reason: Interruption) {
    for thread in detectors.keys.sorted() {
      interrupt(thread, reason)
      detectors[thread]?.forget()
    }
  }

  private mutating func finish() {
    isAtEnd = true
    for thread in detectors.keys.sorted() { interrupt(thread, hasExited ? .targetExited : .watchEnded) }
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
