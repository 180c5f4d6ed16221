// What the machine and the program's group went through meanwhile: a quota that was used up, stolen and scarce time.

/// Counters at one moment, all of which only grow; whatever cannot be read is nil.
package struct SurroundingsReading: Sendable, Equatable {
  package var at: Instant
  /// By the CPU quota of the program's cgroup, or of one above it.
  package var throttled: Throttling?
  /// By the hypervisor, from all CPUs together.
  package var stolen: Duration?
  package var pressure: Pressure
  /// Pages that the thread had to wait for a disk for.
  package var majorFaults: UInt64

  package init(
    at: Instant, throttled: Throttling?, stolen: Duration?, pressure: Pressure, majorFaults: UInt64
  ) {
    self.at = at
    self.throttled = throttled
    self.stolen = stolen
    self.pressure = pressure
    self.majorFaults = majorFaults
  }
}

package struct Throttling: Sendable, Equatable {
  package var times: UInt64
  /// Of all CPUs together.
  package var time: Duration

  package init(times: UInt64, time: Duration) {
    self.times = times
    self.time = time
  }
}

/// For how long some of the machine's processes had to wait (the lines `some` of `/proc/pressure`).
package struct Pressure: Sendable, Equatable {
  package var cpu: Duration?
  package var memory: Duration?
  package var disk: Duration?

  package init(cpu: Duration? = nil, memory: Duration? = nil, disk: Duration? = nil) {
    (self.cpu, self.memory, self.disk) = (cpu, memory, disk)
  }
}

/// What was added between two readings.
package struct Surroundings: Sendable, Equatable {
  package let over: Duration
  package let throttled: Throttling?
  package let stolen: Duration?
  package let pressure: Pressure
  package let majorFaults: UInt64

  package init(from first: SurroundingsReading, to last: SurroundingsReading) {
    func added(_ before: Duration?, _ after: Duration?) -> Duration? {
      guard let before, let after else { return nil }
      return max(.zero, after - before)
    }
    func added(_ before: UInt64, _ after: UInt64) -> UInt64 { after >= before ? after - before : 0 }
    over = max(.zero, last.at - first.at)
    if let before = first.throttled, let after = last.throttled {
      throttled = Throttling(
        times: added(before.times, after.times), time: max(.zero, after.time - before.time))
    } else {
      throttled = nil
    }
    stolen = added(first.stolen, last.stolen)
    pressure = Pressure(
      cpu: added(first.pressure.cpu, last.pressure.cpu),
      memory: added(first.pressure.memory, last.pressure.memory),
      disk: added(first.pressure.disk, last.pressure.disk))
    majorFaults = added(first.majorFaults, last.majorFaults)
  }

  /// For how much of the time the quota was used up, on one CPU at least.
  package var throttledShare: Double {
    guard let throttled, throttled.times > 0, over > .zero else { return 0 }
    return min(1, throttled.time / over)
  }

  /// So much of the time that it may have made the stall longer, 0…1 each.
  package func highShares() -> (cpu: Double?, memory: Double?, disk: Double?) {
    func high(_ time: Duration?, from least: Double) -> Double? {
      guard let time, over > .zero else { return nil }
      let share = min(1, time / over)
      return share >= least ? share : nil
    }
    // Where anything else runs at all, somebody waits for a CPU.
    return (high(pressure.cpu, from: 0.5), high(pressure.memory, from: 0.2), high(pressure.disk, from: 0.2))
  }
}

extension Stall {
  /// What a hypervisor stole of the time in which the thread was neither on a CPU nor waiting for one. Only of a thread that
  /// never slept: elsewhere that time is mostly what it slept. It cannot be more than was stolen from all CPUs.
  package mutating func put(_ surroundings: Surroundings) {
    self.surroundings = surroundings
    guard proof == .neverSlept, let stolen = surroundings.stolen else { return }
    let share = min(stolen, breakdown.blocked)
    breakdown.stolen = share
    breakdown.blocked -= share
  }
}
