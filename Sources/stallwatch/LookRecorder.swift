// `--record`, the watch thread's part: looks are encoded into a buffer that the report thread writes when it is full.

internal import Linux
internal import Recordings
internal import StallCore
internal import Synchronization

/// Never waits, and allocates only when it hands a buffer over.
final class LookRecorder {
  private let channel: RecordingChannel
  private let queue: ReportQueue
  private var encoder = LookEncoder()
  private var buffer = LookRecorder.newBuffer
  private var oldest: Instant?
  private var missing = 0
  /// Threads of programs that were last seen there.
  private var inBackground: Set<Int> = []

  private static let bufferBytes = 16 << 10
  /// What may be lost when the watch is killed.
  private static let longestWait = Duration.seconds(10)

  init(_ channel: RecordingChannel, _ queue: ReportQueue) {
    self.channel = channel
    self.queue = queue
  }

  func begin(_ thread: RecordedThread) { buffer.append(thread) }

  /// Of the main queue: who works for it from here on.
  func worker(_ worker: RecordedThread) { buffer.append(worker: worker) }

  /// Call after the look was judged: `blockStart` is what the detector has asked for meanwhile.
  func look(_ look: ThreadObservation, blockStart: BlockStart?, of thread: Int, dueAt due: Instant) {
    guard makeRoom(at: look.at) else {
      missing += 1
      return
    }
    var look = look
    look.blockStart = look.blockStart ?? blockStart
    encoder.append(look, of: thread, late: look.at - due, to: &buffer)
  }

  /// Made right after the thread was held for a capture.
  func lookAfterCapture(_ look: ThreadObservation, of thread: Int) {
    guard makeRoom(at: look.at) else { return }
    encoder.append(look, of: thread, isAfterCapture: true, to: &buffer)
  }

  /// For the look that follows.
  func surroundings(_ reading: SurroundingsReading, of thread: Int) {
    if makeRoom(at: reading.at) { encoder.append(reading, of: thread, to: &buffer) }
  }

  /// Before the look that knows of it.
  func probed(_ events: [ProbeEvent], at moment: Instant) {
    if !events.isEmpty, makeRoom(at: moment) { encoder.append(events, to: &buffer) }
  }

  func pingTaken(after time: Duration, at moment: Instant) {
    if makeRoom(at: moment) { buffer.appendPingTaken(after: time) }
  }

  func missed(_ thread: Int, at moment: Instant) {
    if makeRoom(at: moment) { buffer.appendMissed(thread) }
  }

  func ended(_ thread: Int, _ reason: Interruption, at moment: Instant) {
    if makeRoom(at: moment) { buffer.appendEnded(thread, reason, at: moment) }
  }

  func gap(_ gap: WatchGap, _ thread: Int, at moment: Instant) {
    if makeRoom(at: moment) { buffer.append(gap, thread) }
  }

  func phaseFact(_ fact: PhaseFact, _ thread: Int, at moment: Instant) {
    if makeRoom(at: moment) { buffer.append(fact, thread) }
  }

  /// Of the look that follows; most are as the one before.
  func background(_ isInBackground: Bool, _ thread: Int, at moment: Instant) {
    guard inBackground.contains(thread) != isInBackground, makeRoom(at: moment) else { return }
    if isInBackground { inBackground.insert(thread) } else { inBackground.remove(thread) }
    buffer.appendBackground(isInBackground, thread)
  }

  /// What a stack has said of a wait.
  func learned(_ meaning: WaitMeaning, of site: Site, _ thread: Int, at moment: Instant) {
    if makeRoom(at: moment) { buffer.appendLearned(meaning, of: site, thread) }
  }

  func programReplaced(_ thread: Int, at moment: Instant) {
    if makeRoom(at: moment) { buffer.appendProgramReplaced(thread) }
  }

  func sightChanged(_ thread: Int, at moment: Instant) {
    if makeRoom(at: moment) { buffer.appendSightChanged(thread) }
  }

  func judged(_ thread: Int, _ isJudged: Bool, at moment: Instant) {
    if makeRoom(at: moment) { buffer.appendJudged(thread, isJudged) }
  }

  /// No more looks will come.
  func finish() { _ = handOver() }

  /// False: the report thread has not yet written what it has got.
  private func makeRoom(at moment: Instant) -> Bool {
    let isFull = buffer.count + RecordingFormat.mostLookBytes > Self.bufferBytes
    let isOld = oldest.map { moment - $0 >= Self.longestWait } ?? false
    if isFull || isOld, !handOver(), isFull { return false }
    oldest = oldest ?? moment
    if missing > 0 {
      buffer.appendLooksMissing(missing)
      missing = 0
    }
    return true
  }

  private func handOver() -> Bool {
    guard channel.put(buffer.bytes) else { return false }
    queue.push(.looksRecorded)
    (buffer, oldest) = (Self.newBuffer, nil)
    return true
  }

  private static var newBuffer: RecordingBytes { RecordingBytes(capacity: bufferBytes) }
}

/// Buffers on their way from the watch thread to the report thread, a megabyte of them at most.
final class RecordingChannel: Sendable {
  private static let mostBuffers = 64

  private let buffers = Mutex<[[UInt8]]>([])

  /// False: there is no room.
  func put(_ buffer: [UInt8]) -> Bool {
    buffers.withLock { buffers in
      guard buffers.count < Self.mostBuffers else { return false }
      buffers.append(buffer)
      return true
    }
  }

  func take() -> [[UInt8]] {
    buffers.withLock { buffers in
      defer { buffers = [] }
      return buffers
    }
  }
}
