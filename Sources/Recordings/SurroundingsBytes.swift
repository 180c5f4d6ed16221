// Readings of a thread's surroundings in a recording: what has not changed since its last reading costs nothing.

package import StallCore

/// What of a reading is not as in the thread's reading before it.
private struct SurroundingsChanges: OptionSet {
  let rawValue: UInt8

  static let throttled = SurroundingsChanges(rawValue: 1)
  static let stolen = SurroundingsChanges(rawValue: 2)
  static let cpu = SurroundingsChanges(rawValue: 4)
  static let memory = SurroundingsChanges(rawValue: 8)
  static let disk = SurroundingsChanges(rawValue: 16)
  static let majorFaults = SurroundingsChanges(rawValue: 32)
}

extension SurroundingsReading: RecordedInMicroseconds {
  /// Before the first one.
  static let none = SurroundingsReading(
    at: Instant(nanoseconds: 0), throttled: nil, stolen: nil, pressure: Pressure(), majorFaults: 0)

  /// Sums over the CPUs of a large machine can be longer than any time.
  package var cut: SurroundingsReading {
    func cut(_ time: Duration?) -> Duration? {
      time.map { .microseconds(min(max(0, $0.microseconds), RecordingFormat.mostMicroseconds)) }
    }
    return SurroundingsReading(
      at: at.cut,
      throttled: throttled.flatMap { group in cut(group.time).map { Throttling(times: group.times, time: $0) }
      },
      stolen: cut(stolen),
      pressure: Pressure(cpu: cut(pressure.cpu), memory: cut(pressure.memory), disk: cut(pressure.disk)),
      majorFaults: majorFaults)
  }
}

extension RecordingBytes {
  mutating func append(_ reading: SurroundingsReading, after last: SurroundingsReading) {
    append(signed: reading.at.microseconds - last.at.microseconds)
    let changes = SurroundingsChanges(from: last, to: reading)
    append(changes.rawValue)
    if changes.contains(.throttled) {
      append(reading.throttled?.time, after: last.throttled?.time)
      if let times = reading.throttled?.times {
        append(signed: Int64(bitPattern: times &- (last.throttled?.times ?? 0)))
      }
    }
    if changes.contains(.stolen) { append(reading.stolen, after: last.stolen) }
    if changes.contains(.cpu) { append(reading.pressure.cpu, after: last.pressure.cpu) }
    if changes.contains(.memory) { append(reading.pressure.memory, after: last.pressure.memory) }
    if changes.contains(.disk) { append(reading.pressure.disk, after: last.pressure.disk) }
    if changes.contains(.majorFaults) {
      append(signed: Int64(bitPattern: reading.majorFaults &- last.majorFaults))
    }
  }

  /// 0: it cannot be read; else one more than the difference.
  private mutating func append(_ time: Duration?, after last: Duration?) {
    append(number: time.map { ($0.microseconds - (last?.microseconds ?? 0)).zigzag + 1 } ?? 0)
  }
}

extension RecordingInput {
  mutating func reading(after last: SurroundingsReading) throws(RecordingProblem) -> SurroundingsReading {
    var reading = last
    let sinceBoot = Duration.microseconds(last.at.microseconds)
    reading.at = Instant(microseconds: try duration(after: sinceBoot).microseconds)
    let changes = SurroundingsChanges(rawValue: try byte())
    if changes.contains(.throttled) {
      let time = try optionalDuration(after: last.throttled?.time)
      let former = last.throttled?.times ?? 0
      reading.throttled =
        if let time { Throttling(times: former &+ UInt64(bitPattern: try signed()), time: time) } else { nil }
    }
    if changes.contains(.stolen) { reading.stolen = try optionalDuration(after: last.stolen) }
    if changes.contains(.cpu) { reading.pressure.cpu = try optionalDuration(after: last.pressure.cpu) }
    if changes.contains(.memory) {
      reading.pressure.memory = try optionalDuration(after: last.pressure.memory)
    }
    if changes.contains(.disk) { reading.pressure.disk = try optionalDuration(after: last.pressure.disk) }
    if changes.contains(.majorFaults) {
      reading.majorFaults = last.majorFaults &+ UInt64(bitPattern: try signed())
    }
    return reading
  }

  private mutating func optionalDuration(after last: Duration?) throws(RecordingProblem) -> Duration? {
    let difference = try number()
    if difference == 0 { return nil }
    return try duration(Int64(zigzag: difference - 1), after: last ?? .zero)
  }
}

extension SurroundingsChanges {
  init(from last: SurroundingsReading, to reading: SurroundingsReading) {
    self = []
    if reading.throttled != last.throttled { insert(.throttled) }
    if reading.stolen != last.stolen { insert(.stolen) }
    if reading.pressure.cpu != last.pressure.cpu { insert(.cpu) }
    if reading.pressure.memory != last.pressure.memory { insert(.memory) }
    if reading.pressure.disk != last.pressure.disk { insert(.disk) }
    if reading.majorFaults != last.majorFaults { insert(.majorFaults) }
  }
}
