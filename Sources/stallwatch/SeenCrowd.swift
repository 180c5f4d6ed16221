// What one read of the task iterator showed of all threads of a process, for a dump.

internal import Linux
internal import Stacks
internal import StallCore

struct SeenCrowd {
  private let samples: [ThreadSample]
  private var places: [Int32: Int] = [:]
  private var nextStacks: [Int: UInt64] = [:]

  /// More than these are asked for one by one: each takes some 230 bytes.
  static let mostThreads = 32_768

  init(_ samples: [ThreadSample]) {
    self.samples = samples
    places.reserveCapacity(samples.count)
    for (place, sample) in samples.enumerated() { places[sample.threadID] = place }
    let blocked = samples.indices.compactMap { place in
      BlockedRegisters(samples[place]).map { (place, $0.registers.stackPointer) }
    }
    let upwards = blocked.sorted { $0.1 < $1.1 }
    for (one, next) in zip(upwards, upwards.dropFirst()) { nextStacks[one.0] = next.1 }
  }

  /// Any bytes but NUL; nil: it was not there.
  func name(of thread: Int32) -> ByteString? {
    places[thread].map { samples[$0].withName { bytes in ByteString(bytes.indices.map { bytes[$0] }) } }
  }

  var count: Int { samples.count }

  /// How to ask for it together with others.
  func member(_ thread: Int32, isParked: Bool) -> GroupMember {
    var member = GroupMember(threadID: thread, isParked: isParked)
    if let place = places[thread] {
      member.blocked = BlockedRegisters(samples[place])
      member.nextStack = nextStacks[place]
    }
    return member
  }
}
