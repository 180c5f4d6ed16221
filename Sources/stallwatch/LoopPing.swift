// The watch thread's part in `--ping`: wakes the loop of a thread while it is at work, and sees whether it comes round.

internal import Linux
internal import Reports
internal import StallCore

/// What has become of a wake-up.
enum WakeUpState {
  case raised
  case taken
  /// The program has closed it, or put another file in its place.
  case gone
}

/// Of one thread's loop.
struct LoopPing {
  private let threshold: Duration
  private var log: PingLog?
  private var home: Multiplexer?
  private var counter: WakeUpCounter?
  /// Why it is not tried any more at this home.
  private var refusal: WakeUpRefusal?
  private var hasToldRefusal = false
  private var responseTime: Duration?
  private var remark: NoticeRecord?

  init(threshold: Duration) { self.threshold = threshold }

  /// `reading`: what the first stack said of the home. `isAtWork`: the look before found the loop so.
  mutating func look(
    at look: ThreadObservation, _ home: HomeCandidate?, _ reading: StackReading?, isParked: Bool,
    isAtWork: Bool, _ camera: ThreadCamera
  ) -> PassSight? {
    guard let home else {
      forget()
      return nil
    }
    if home.site.multiplexer != self.home {
      forget()
      self.home = home.site.multiplexer
    }
    guard reading?.mayPing ?? false || log != nil else {
      if let reading, home.wasReturnedTo { tell(Refusal.ofPing(atLoopOf: reading.loopFamily)) }
      return nil
    }
    var log = log ?? PingLog(threshold: threshold, isTakenFirst: home.site.kind == .poll)
    defer { self.log = log }
    if let counter, log.isOutstanding { return see(counter, look, isParked, &log, camera) }
    if refusal == nil, isAtWork, log.mayRaise(at: look, isParked: isParked), let place = WakeUpPlace(home) {
      raise(place, look, &log, camera)
    }
    return log.sight()
  }

  /// How long the loop took to take the last wake-up, if the last look has seen that.
  mutating func takeResponseTime() -> Duration? { responseTime.take() }

  mutating func takeRemark() -> NoticeRecord? { remark.take() }

  /// Another program, or another loop.
  mutating func forget() {
    (log, counter, home, refusal) = (nil, nil, nil, nil)
  }

  private mutating func raise(
    _ place: WakeUpPlace, _ look: ThreadObservation, _ log: inout PingLog, _ camera: ThreadCamera
  ) {
    let began = Instant.now
    switch camera.raiseWakeUp(waitingOn: place) {
    case .success(let counter):
      self.counter = counter
      log.raise(from: began, to: .now)
    case .failure(let refusal) where !refusal.isPassing:
      self.refusal = refusal
      tell(Refusal.ofPing(refusal, camera.handle.id))
    case .failure, nil: log.putOff(at: look.at)
    }
  }

  private mutating func see(
    _ counter: WakeUpCounter, _ look: ThreadObservation, _ isParked: Bool, _ log: inout PingLog,
    _ camera: ThreadCamera
  ) -> PassSight? {
    guard let state = camera.wakeUp(counter) else { return nil }
    if state == .gone {
      log.forget()
      return nil
    }
    let seen = log.see(isTaken: state == .taken, at: look, isParked: isParked)
    responseTime = seen.responseTime
    if log.isIgnored {
      remark = NoticeRecord(.ping, "the loop parks and does not take its wake-up; it is not pinged any more")
    }
    return seen.sight
  }

  private mutating func tell(_ refusal: (why: String, next: String?)) {
    guard !hasToldRefusal else { return }
    hasToldRefusal = true
    let (why, next) = refusal
    remark = NoticeRecord(.ping, "the loop is not pinged: \(why)" + (next.map { "; \($0)" } ?? ""))
  }
}

extension WakeUpPlace {
  /// Nil for a home that no wake-up belongs to, or that is not known whole.
  fileprivate init?(_ home: HomeCandidate) {
    switch home.site.multiplexer {
    case .epoll(let descriptor): self = .epoll(descriptor)
    case .descriptorSet:
      guard let set = home.site.descriptors, set.count < DescriptorSet.capacity else { return nil }
      self = .set(set.elements)
    default: return nil
    }
  }
}
