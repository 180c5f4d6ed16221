// From looks to bytes: what has not changed since the thread's last look costs nothing.

package import StallCore

/// Works within the watch: nothing here allocates once every thread was seen.
package struct LookEncoder: Sendable {
  private var threads: [LookMemory] = []
  /// When the last thing happened to a question from outside.
  private var probedAt = Instant(nanoseconds: 0)

  package init() {}

  /// `late`: how long after its time the look was made; only what matters is written. `isAfterCapture`: it was made
  /// right after the thread had been held.
  package mutating func append(
    _ observation: ThreadObservation, of thread: Int, late: Duration = .zero, isAfterCapture: Bool = false,
    to bytes: inout RecordingBytes
  ) {
    guard (0..<RecordingFormat.mostThreads).contains(thread) else { return }
    while threads.count <= thread { threads.append(LookMemory()) }
    if late >= Self.leastLateness { bytes.append(.late) { $0.append(late) } }
    if isAfterCapture { bytes.append(.captured) { _ in } }
    let look = observation.cut
    if look.arrival != threads[thread].last.arrival { bytes.append(look.arrival) }
    if look.blockedNotBefore != threads[thread].last.blockedNotBefore {
      bytes.append(.blockBound) { bytes in look.blockedNotBefore.map { bytes.append($0) } }
    }
    threads[thread].append(look, of: thread, to: &bytes)
  }

  private static let leastLateness = Duration.milliseconds(1)

  /// For the look that follows.
  package mutating func append(_ reading: SurroundingsReading, of thread: Int, to bytes: inout RecordingBytes)
  {
    guard (0..<RecordingFormat.mostThreads).contains(thread) else { return }
    while threads.count <= thread { threads.append(LookMemory()) }
    let (last, reading) = (threads[thread].reading, reading.cut)
    bytes.append(.surroundings) {
      $0.append(count: thread)
      $0.append(reading, after: last)
    }
    threads[thread].reading = reading
  }

  /// What became of questions from outside, in the order of time; before the look that knows of it.
  package mutating func append(_ events: [ProbeEvent], to bytes: inout RecordingBytes) {
    var rest = events[...]
    while !rest.isEmpty {
      bytes.append(rest.prefix(Self.mostEventsInEntry), after: &probedAt)
      rest = rest.dropFirst(Self.mostEventsInEntry)
    }
  }

  /// So that an entry is a short one.
  private static let mostEventsInEntry = 8
}

extension LookMemory {
  fileprivate mutating func append(
    _ look: ThreadObservation, of thread: Int, to bytes: inout RecordingBytes
  ) {
    let changes = changes(in: look)
    let deviation = (look.at.microseconds - expected).zigzag
    if changes.isEmpty, deviation <= RecordingFormat.mostDeviation,
      thread <= RecordingFormat.mostRepeatedThread
    {
      bytes.append(RecordingFormat.repeatedLook | UInt8(thread) << 4 | UInt8(deviation >> 8))
      bytes.append(UInt8(truncatingIfNeeded: deviation))
    } else {
      bytes.append(RecordingFormat.changedLook | changes.rawValue)
      bytes.append(count: thread)
      bytes.append(number: deviation)
      append(changes, of: look, to: &bytes)
    }
    remember(look)
  }

  private func changes(in look: ThreadObservation) -> LookChanges {
    var changes: LookChanges = []
    if look.cpuTime != last.cpuTime || look.runQueueDelay != last.runQueueDelay
      || look.timesScheduled != last.timesScheduled || look.voluntarySwitches != last.voluntarySwitches
    {
      changes.insert(.counts)
    }
    if look.userTicks != last.userTicks || look.kernelTicks != last.kernelTicks { changes.insert(.ticks) }
    if look.state != last.state || look.activity != last.activity { changes.insert(.place) }
    if look.blockedSince != last.blockedSince { changes.insert(.blockedSince) }
    if look.descriptors != last.descriptors { changes.insert(.descriptors) }
    if look.passes != last.passes { changes.insert(.passes) }
    return changes
  }

  private mutating func append(
    _ changes: LookChanges, of look: ThreadObservation, to bytes: inout RecordingBytes
  ) {
    if changes.contains(.counts) {
      bytes.append(signed: look.cpuTime.microseconds - last.cpuTime.microseconds)
      bytes.append(signed: look.runQueueDelay.microseconds - last.runQueueDelay.microseconds)
      bytes.append(signed: Int64(bitPattern: look.timesScheduled &- last.timesScheduled))
      bytes.append(signed: Int64(bitPattern: look.voluntarySwitches &- last.voluntarySwitches))
    }
    if changes.contains(.ticks) {
      bytes.append(signed: Int64(bitPattern: look.userTicks &- last.userTicks))
      bytes.append(signed: Int64(bitPattern: look.kernelTicks &- last.kernelTicks))
    }
    if changes.contains(.place) {
      bytes.append(look.state.rawValue)
      append(look.activity, to: &bytes)
    }
    if changes.contains(.blockedSince) { bytes.append(look.blockedSince, before: look.at) }
    if changes.contains(.descriptors) { bytes.append(look.descriptors) }
    if changes.contains(.passes) { bytes.append(look.passes, before: look.at) }
  }

  private mutating func append(_ activity: Activity, to bytes: inout RecordingBytes) {
    switch activity {
    case .running: bytes.append(ActivityCode.running)
    case .unknown: bytes.append(ActivityCode.unknown)
    case .blockedOutsideCall(let stackPointer, let programCounter):
      bytes.append(ActivityCode.outsideCall)
      bytes.append(number: stackPointer)
      bytes.append(number: programCounter)
    case .blockedByKind(let kind): bytes.append(ActivityCode.of(kind))
    case .blocked(let call): append(call, to: &bytes)
    }
  }

  private mutating func append(_ call: BlockedCall, to bytes: inout RecordingBytes) {
    if let slot = calls.slot(of: call) {
      bytes.append(ActivityCode.sameCall | UInt8(slot))
    } else if let slot = calls.slot(like: call) {
      bytes.append(ActivityCode.otherArguments | UInt8(slot))
      bytes.append(call.arguments, after: calls[slot].arguments)
      calls.replace(slot, with: call)
    } else {
      bytes.append(ActivityCode.newCall)
      bytes.append(number: UInt64(bitPattern: Int64(call.number)))
      bytes.append(number: call.stackPointer)
      bytes.append(number: call.programCounter)
      bytes.append(call.arguments, after: InlineArguments())
      calls.add(call)
    }
  }
}

extension RecordingBytes {
  /// A mask of those that differ, and their differences.
  fileprivate mutating func append(_ arguments: InlineArguments, after former: InlineArguments) {
    var mask: UInt8 = 0
    for index in 0..<InlineArguments.count where arguments[index] != former[index] {
      mask |= 1 << UInt8(index)
    }
    append(mask)
    for index in 0..<InlineArguments.count where mask & 1 << UInt8(index) != 0 {
      append(signed: Int64(bitPattern: arguments[index] &- former[index]))
    }
  }

  /// 0: nil; else one more than the time up to `moment`.
  fileprivate mutating func append(_ earlier: Instant?, before moment: Instant) {
    append(number: earlier.map { UInt64(max(0, moment.microseconds - $0.microseconds)) + 1 } ?? 0)
  }

  /// 0: nil; else one more than their number, and the distance of each from the one before.
  mutating func append(_ descriptors: DescriptorSet?) {
    guard let descriptors else { return append(0) }
    append(count: descriptors.count + 1)
    var former: Int32 = 0
    for index in 0..<descriptors.count {
      append(count: Int(descriptors[index] - former))
      former = descriptors[index]
    }
  }

  /// 0: nil; else the number of the source, above that of another one that saw the pass, and what they saw.
  fileprivate mutating func append(_ passes: PassSight?, before moment: Instant) {
    let other = passes.flatMap { $0.passSource == $0.source ? nil : $0.passSource }
    append((passes?.source.code ?? 0) | (other?.code ?? 0) << 4)
    guard let passes else { return }
    append(passes.firstPass, before: moment)
    append(passes.lastPass, before: moment)
    append(passes.lastPassAfter, before: moment)
    append(passes.quietSince, before: moment)
    append(count: min(max(0, passes.count), Int(Int32.max)))
    append(passes.longestRound)
  }
}

extension RecordingBytes {
  /// Nothing: it is not known any more.
  fileprivate mutating func append(_ arrival: ProcessorArrival?) {
    append(.arrival) {
      guard let arrival else { return }
      $0.append(arrival.at)
      $0.append(arrival.cpuTime)
    }
  }
}

extension ThreadObservation: RecordedInMicroseconds {
  package var cut: ThreadObservation {
    var look = self
    look.at = at.cut
    look.cpuTime = cpuTime.cut
    look.runQueueDelay = runQueueDelay.cut
    look.blockedSince = blockedSince?.cut
    look.blockedNotBefore = blockedNotBefore?.cut
    look.arrival = arrival.map { ProcessorArrival(at: $0.at.cut, cpuTime: $0.cpuTime.cut) }
    look.passes?.firstPass = passes?.firstPass?.cut
    look.passes?.lastPass = passes?.lastPass?.cut
    look.passes?.lastPassAfter = passes?.lastPassAfter?.cut
    look.passes?.quietSince = passes?.quietSince?.cut
    look.passes?.longestRound = passes?.longestRound.cut ?? .zero
    return look
  }
}
