// Reads what the machine and the program's cgroup went through, from files that are held open.

internal import Linux
package import StallCore

/// Some ten microseconds a reading, so only where a spell of work lasts, and at its end.
package struct SurroundingsReader: ~Copyable {
  private let quota: CgroupQuota?
  private let cpu: PressureFile?
  private let memory: PressureFile?
  private let disk: PressureFile?
  private var stolen: StolenTime?
  private var buffer = [UInt8](repeating: 0, count: 1024)

  /// Whatever this machine does not have is left out.
  package init(process: Int32) {
    quota = try? CgroupQuota(process: process)
    cpu = try? PressureFile("cpu")
    memory = try? PressureFile("memory")
    disk = try? PressureFile("io")
    stolen = try? StolenTime()
  }

  /// `majorFaults` are those of the thread, which its looks have seen.
  package mutating func read(at moment: Instant, majorFaults: UInt64) -> SurroundingsReading {
    let throttled = quota?.throttled(&buffer).map {
      Throttling(times: $0.times, time: .nanoseconds(Int64(clamping: $0.nanoseconds)))
    }
    let pressure = Pressure(
      cpu: cpu?.some(&buffer) ?? nil, memory: memory?.some(&buffer) ?? nil, disk: disk?.some(&buffer) ?? nil)
    return SurroundingsReading(
      at: moment, throttled: throttled ?? nil, stolen: stolen?.read() ?? nil, pressure: pressure,
      majorFaults: majorFaults)
  }
}
