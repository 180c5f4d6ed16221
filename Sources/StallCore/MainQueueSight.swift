// What the main queue of libdispatch says of itself: whether a thread works for it, and which.

/// Read from the queue's own words in the target's memory.
///
/// Layout: `struct dispatch_lane_s` of swift-corelibs-libdispatch (src/object_internal.h, src/queue_internal.h), tried with
/// that of Swift 6.3: reference counts at 8, `dq_items_tail` at 48, `dq_state` at 56, `dq_serialnum` at 64,
/// `dq_items_head` at 104. The lower half of the state is the lock: who drains the queue, as a thread id of the target's
/// own (src/shims/lock.h, `DLOCK_OWNER_MASK`), and in its highest bit whether it waits for a thread.
package struct MainQueueSight: Sendable, Equatable {
  /// The thread that works for it, as the target knows it.
  package var owner: Int32?
  /// There is work, and no thread has taken it up yet.
  package var waitsForThread: Bool
  /// Address of the block that comes next; nil if none is known to wait.
  package var nextBlock: UInt64?

  package static let byteCount = 112
  private static let globalReferenceCounts: UInt64 = 0x7FFF_FFFF_7FFF_FFFF
  private static let mainQueueSerialNumber: UInt64 = 1
  private static let ownerMask: UInt32 = 0x3FFF_FFFF
  private static let enqueued: UInt32 = 1 << 31

  package init(owner: Int32?, waitsForThread: Bool = false, nextBlock: UInt64? = nil) {
    self.owner = owner
    self.waitsForThread = waitsForThread
    self.nextBlock = nextBlock
  }

  /// Nil if this cannot be the main queue, or is laid out otherwise.
  package init?(_ bytes: Span<UInt8>) {
    guard bytes.count >= Self.byteCount, bytes.word(at: 8) == Self.globalReferenceCounts,
      bytes.word(at: 64) == Self.mainQueueSerialNumber
    else { return nil }
    let lock = UInt32(truncatingIfNeeded: bytes.word(at: 56))
    let identifier = Int32(bitPattern: lock & Self.ownerMask)
    owner = identifier == 0 ? nil : identifier
    waitsForThread = owner == nil && lock & Self.enqueued != 0
    let head = bytes.word(at: 104)
    nextBlock = head == 0 ? nil : head
  }
}

extension Span<UInt8> {
  fileprivate func word(at offset: Int) -> UInt64 {
    var word: UInt64 = 0
    for index in 0..<8 { word |= UInt64(self[offset + index]) << UInt64(index * 8) }
    return word
  }
}
