// What was asked of the program in a recording, and what came back: probes from outside, and wake-ups of its loop.

internal import StallCore

extension RecordingBytes {
  /// A loop took a wake-up after so long.
  package mutating func appendPingTaken(after time: Duration) { append(.pingTaken) { $0.append(time) } }

  /// `last` is the moment of the event before the first one, and becomes that of the last one.
  mutating func append(_ events: ArraySlice<ProbeEvent>, after last: inout Instant) {
    append(.probed) {
      for event in events {
        let distance = UInt64(max(0, event.at.microseconds - last.microseconds))
        $0.append(number: distance << 2 | event.kind.code)
        last = Instant(microseconds: last.microseconds + Int64(distance))
      }
    }
  }
}

extension RecordingInput {
  /// To the end of the entry.
  mutating func probeEvents(after last: inout Instant) throws(RecordingProblem) -> [ProbeEvent] {
    var events: [ProbeEvent] = []
    while !isAtEnd {
      let number = try number()
      guard let kind = ProbeEvent.Kind(code: number & 3), events.count < RecordingFormat.mostItems else {
        throw damage
      }
      let at = last.microseconds + Int64(number >> 2)
      guard at <= RecordingFormat.mostMicroseconds else { throw damage }
      last = Instant(microseconds: at)
      events.append(ProbeEvent(kind, at: last))
    }
    return events
  }
}

extension ProbeEvent.Kind {
  private static let numbered: [ProbeEvent.Kind] = [.sent, .answered, .failed]

  fileprivate var code: UInt64 { UInt64(Self.numbered.firstIndex(of: self) ?? 0) }

  fileprivate init?(code: UInt64) {
    guard code < Self.numbered.count else { return nil }
    self = Self.numbered[Int(code)]
  }
}
