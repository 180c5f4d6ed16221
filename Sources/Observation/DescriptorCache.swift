// Decides when the descriptors of a poll are read from the target's memory, which costs more than the look itself.

package import StallCore

/// A loop makes the same call again and again: same arguments from the same place. It is taken to wait on the same set,
/// until the thread stays in that block for a second look, or until it was taken so for some time: then the set is read.
package struct DescriptorCache: Sendable {
  /// The set that was read last, and the call that it was read for.
  private var known: (call: BlockedCall, set: DescriptorSet)?
  /// What was answered for the present block; a block is known by the count of times scheduled.
  private var block: UInt64?
  private var answer: DescriptorSet?
  private var isAssumed = false
  private var readAt = Instant(nanoseconds: 0)

  /// How long an unread set is believed, and how long a failed read is not tried again.
  private static let readEvery: Duration = .seconds(2)
  private static let retryAfter: Duration = .seconds(1)

  package init() {}

  package mutating func descriptors(
    of call: BlockedCall, block: UInt64, at now: Instant, read: () -> DescriptorSet?
  ) -> DescriptorSet? {
    if block == self.block {
      if !isAssumed, answer != nil || now - readAt < Self.retryAfter { return answer }
    } else {
      self.block = block
      if let known, known.call == call, now - readAt < Self.readEvery {
        (answer, isAssumed) = (known.set, true)
        return answer
      }
    }
    (answer, isAssumed, readAt) = (read(), false, now)
    known = answer.map { (call, $0) }
    return answer
  }
}
