// The watch thread's part in a heartbeat: reads the variable at looks, once it is known where it is.

internal import Linux
internal import Reports
internal import StallCore

/// One of a watch: it belongs to the loop, whichever thread runs that.
final class WatchedHeartbeat {
  private let name: HeartbeatName
  private let hunt: HeartbeatHunt
  private var place: (address: UInt64, width: Int)?
  private var record = Heartbeat()
  private var failedReadings = 0
  /// After readings that failed it is looked for again.
  private var isLost = false
  private var retry = RetrySpacing()
  private var told: HeartbeatFinding?
  private var hasToldDistrust = false
  private var remark: NoticeRecord?

  /// A mapping may be replaced by another one at the moment of a reading.
  private static let mostFailures = 3

  /// `first`: what a search has found already.
  init(_ name: HeartbeatName, process: Int32, first: HeartbeatFinding?) {
    self.name = name
    hunt = HeartbeatHunt(name, process: process)
    if let first { take(first) }
    if place == nil { hunt.begin() }
  }

  deinit { hunt.end() }

  /// Another program runs in the process.
  func forget() {
    (place, told, isLost, retry) = (nil, nil, false, RetrySpacing())
    record.forget()
    hunt.begin()
  }

  /// What is known of passes at a look. Before anything else that sees passes is asked at this look.
  func look(
    at look: ThreadObservation, isParked: Bool, _ thread: Int32, _ camera: ThreadCamera
  ) -> PassSight? {
    if place == nil { seek(at: look.at) }
    guard let place else { return nil }
    guard record.wantsReading(at: look, isParked: isParked) else {
      record.skip()
      return nil
    }
    let began = Instant.now
    switch camera.readNumber(of: thread, at: place.address, place.width) {
    case .success(let value):
      failedReadings = 0
      defer { tellDistrust() }
      return record.take(
        Heartbeat.Reading(value: value, began: began, ended: .now), at: look, isParked: isParked)
    case .failure:
      readingFailed(at: look.at)
      return nil
    case nil:
      record.skip()
      return nil
    }
  }

  func takeRemark() -> NoticeRecord? {
    defer { remark = nil }
    return remark
  }

  /// Its library may be gone, or our rights.
  private func readingFailed(at moment: Instant) {
    record.skip()
    failedReadings += 1
    guard failedReadings == Self.mostFailures else { return }
    failedReadings = 0
    if retry.isFirst { remark = notice("cannot be read any more; it is looked for again") }
    retry.refuse(at: moment)
    (place, isLost) = (nil, true)
    record.forget()
  }

  private func seek(at moment: Instant) {
    if isLost, retry.isDue(at: moment) {
      isLost = false
      hunt.begin()
    }
    if let finding = hunt.take() { take(finding) }
  }

  private func take(_ finding: HeartbeatFinding) {
    if case .found(let address, let width, _) = finding { place = (address, width) }
    guard told != finding else { return }
    told = finding
    remark = notice(sentence(of: finding))
  }

  private func sentence(of finding: HeartbeatFinding) -> String {
    let (clause, next) = Refusal.ofHeartbeat(finding)
    if case .found = finding { return clause }
    return clause + "; looked for again when something is loaded" + (next.map { "\n  next: \($0)" } ?? "")
  }

  private func tellDistrust() {
    guard record.isDistrusted, !hasToldDistrust else { return }
    hasToldDistrust = true
    remark = notice("does not advance when the loop comes round; it is ignored")
  }

  private func notice(_ clause: String) -> NoticeRecord {
    NoticeRecord(.heartbeat, "heartbeat \(name.text.escaped) \(clause)")
  }
}
