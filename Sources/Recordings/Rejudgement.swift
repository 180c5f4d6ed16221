// Judges the looks of a recording again, as the watch would with other thresholds.

package import StallCore

/// What the judgement says at one look.
package struct RejudgedAction: Sendable {
  package var action: StallAction
  package var saturation = SaturationAction.none
  /// The index of the thread.
  package var thread: Int
  /// Whom records name: the thread, or who works for the main queue. Nil: no watch records it so.
  package var subject: RecordedThread?
  package var at: Instant
  /// When the next look came: what was captured before that belongs to this one.
  package var before: Instant
}

package struct Rejudgement: ~Copyable {
  private let thresholds: PhaseThresholds
  private let interval: Duration?
  private let home: HomeSelector?
  private let exit: RecordedExit?
  private var reader: RecordingReader
  private var threads: [Int: RejudgedThread] = [:]
  private var subjects: [Int: RecordedThread] = [:]
  /// Of questions from outside, up to here.
  package private(set) var probe = ProbeLog()
  /// How long the loop took to take its wake-ups.
  package private(set) var responseTimes = ResponseTimes()
  /// Of the last look, and of what came after it: it is not known yet when the next look comes.
  private var waiting: [RejudgedAction] = []
  /// The moment of the last look.
  package private(set) var now = Instant(nanoseconds: 0)
  package private(set) var isAtEnd = false
  package private(set) var looks = 0
  package private(set) var lateLooks = 0
  package let alertInterval: Duration

  /// `home`: where the loop parks, if a person says it; else as it was said when it was recorded.
  package init(
    _ recording: Recording, _ thresholds: PhaseThresholds, home: HomeSelector? = nil
  ) throws(RecordingProblem) {
    reader = try RecordingReader(recording.bytes)
    self.thresholds = thresholds
    self.home = home ?? recording.watch.home
    interval = thresholds.normal == recording.watch.threshold ? recording.watch.interval : nil
    exit = recording.exit
    alertInterval = LookSchedule(threshold: thresholds.normal, interval: interval).alertInterval
  }

  /// Goes on to the next look that was due, and answers what was said before it.
  package mutating func next() -> [RejudgedAction] {
    while !isAtEnd {
      // What cannot be read ends it; `Recording` knows why.
      guard let entry = try? reader.next() else {
        end(exit == nil ? .watchEnded : .targetExited)
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
    for thread in threads.keys.sorted() {
      if let thread = threads[thread] { sum.add(thread.detector.statistics) }
    }
    return sum
  }

  package var isStalled: Bool { threads.values.contains { $0.detector.isStalled } }

  private mutating func take(_ entry: RecordingEntry) {
    switch entry {
    case .look(let look): threads[look.thread]?.absorbCapture(look.observation)
    case .threadEnded(let thread, let moment, let reason):
      now = max(now, moment)
      change(thread) { $0.end(reason, at: moment, say: $1) }
    case .threadMissed(let thread): change(thread) { $0.cutOff(.threadEnded, say: $1) }
    case .programReplaced(let thread): forget(thread, .targetReplaced)
    case .sightChanged(let thread): forget(thread, .rightsChanged)
    case .learned(let thread, let meaning, let site): threads[thread]?.learn(meaning, of: site)
    case .judged(let thread, let isJudged): change(thread) { thread, _ in thread.isJudged = isJudged }
    case .gap(let thread, let gap): change(thread) { thread, _ in thread.note(gap) }
    case .phaseFact(let thread, let fact): change(thread) { $1($0.note(fact), .none) }
    case .background(let thread, let isInBackground):
      change(thread) { thread, _ in thread.note(isInBackground: isInBackground) }
    case .threadBegan(let thread):
      subjects[thread.index] = thread
      if thread.role == .mainQueue {
        threads[thread.index] = RejudgedThread(thresholds, interval: interval, home: .mainQueue)
      }
    case .worker(let thread, let threadID, let name):
      subjects[thread]?.threadID = threadID
      subjects[thread]?.name = name
    case .surroundings(let thread, let reading): change(thread) { thread, _ in thread.note(reading) }
    case .probed(let events): for event in events { probe.take(event) }
    case .pingTaken(let time): responseTimes.add(time)
    case .watch, .clock, .looksMissing, .notice, .stack, .busyThread, .exit, .end: break
    }
  }

  private mutating func judge(_ look: RecordedLook) {
    now = look.observation.at
    looks += 1
    if look.late > alertInterval { lateLooks += 1 }
    let facts = probe.facts
    change(look.thread) { $0.judge(look.observation, facts, say: $1) }
  }

  /// Nothing learned is true of what comes.
  private mutating func forget(_ thread: Int, _ reason: Interruption) {
    change(thread) {
      $0.cutOff(reason, say: $1)
      $0.forget()
    }
  }

  private mutating func end(_ reason: Interruption) {
    isAtEnd = true
    let moment = max(now, exit?.at ?? now)
    for thread in threads.keys.sorted() { change(thread) { $0.end(reason, at: moment, say: $1) } }
  }

  /// Does something with a thread, and keeps what it says.
  private mutating func change(
    _ index: Int, _ act: (RejudgedThread, (StallAction, SaturationAction) -> Void) -> Void
  ) {
    let thread = threads[index] ?? RejudgedThread(thresholds, interval: interval, home: home)
    threads[index] = thread
    let subject = subjects[index]
    var said: [RejudgedAction] = []
    act(thread) { action, saturation in
      if action == .none, saturation == .none { return }
      said.append(
        RejudgedAction(
          action: action, saturation: saturation, thread: index, subject: subject, at: now, before: now))
    }
    waiting += said
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
