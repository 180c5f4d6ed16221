// What the machine and the program's cgroup went through during a stall, as a record and as text.

internal import StallCore

struct SurroundingsRecord: Encodable {
  private let surroundings: Surroundings

  init(_ surroundings: Surroundings) { self.surroundings = surroundings }

  private enum CodingKeys: String, CodingKey {
    case over = "over_ms"
    case throttledTimes = "throttled_times"
    case throttled = "throttled_ms"
    case stolen = "stolen_ms"
    case cpu = "cpu_pressure_ms"
    case memory = "memory_pressure_ms"
    case disk = "io_pressure_ms"
    case majorFaults = "major_faults"
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(Milliseconds(surroundings.over), forKey: .over)
    try container.encodeIfPresent(surroundings.throttled?.times, forKey: .throttledTimes)
    func encode(_ time: Duration?, _ key: CodingKeys) throws {
      try container.encodeIfPresent(time.map { Milliseconds($0) }, forKey: key)
    }
    try encode(surroundings.throttled?.time, .throttled)
    try encode(surroundings.stolen, .stolen)
    try encode(surroundings.pressure.cpu, .cpu)
    try encode(surroundings.pressure.memory, .memory)
    try encode(surroundings.pressure.disk, .disk)
    try container.encode(surroundings.majorFaults, forKey: .majorFaults)
  }
}

extension Surroundings {
  /// A page a millisecond is what a disk can give at best.
  private static let manyFaults: UInt64 = 100

  /// Only what is high; nil: nothing is.
  var spoken: String? {
    let high = highShares()
    func waited(_ share: Double?, _ whom: String) -> String? {
      share.map { "processes waited for \(whom) \(Percent($0 * 100).spoken) of the time" }
    }
    let facts = [
      throttled.flatMap { $0.times > 0 ? "its CPU quota was used up \($0.times) times" : nil },
      stolen.flatMap { $0 * 10 >= over ? "the hypervisor took \($0.spoken) from the CPUs" : nil },
      waited(high.cpu, "a CPU"), waited(high.memory, "memory"), waited(high.disk, "disks"),
      majorFaults >= Self.manyFaults ? "it read \(grouped(Int(clamping: majorFaults))) pages from disk" : nil,
    ].compactMap(\.self)
    return facts.isEmpty ? nil : "meanwhile " + facts.joined(separator: ", ")
  }
}
