// What the word that a thread waits on, and its neighbours, say about a lock and who holds it.

package import StallCore

/// A reading of a futex wait. Thread ids are as the target sees them, in its own pid namespace, and unchecked.
package enum LockWord: Hashable, Sendable {
  case mutex(owner: Int32?)
  /// A priority-inheritance futex: the kernel itself keeps the owner in the word.
  case inheritingMutex(owner: Int32)
  case readWriteLock(writer: Int32?)
  /// The word holds a thread's id and turns zero at its end: pthread_join.
  case threadEnd(Int32)
  /// A condition variable, a semaphore or something else without an owner.
  case other

  /// How many bytes from the word on are looked at.
  package static let length = 24

  private static let threadIDMask: UInt32 = 0x3FFF_FFFF  // FUTEX_TID_MASK, linux/futex.h
  private static let waitersBit: UInt32 = 0x8000_0000  // FUTEX_WAITERS

  /// The address to read `length` bytes at, if the call is a wait on one futex.
  package static func address(in call: BlockedCall) -> UInt64? {
    switch call.number {
    case SystemCallNumber.futex, SystemCallNumber.futexWait: call.arguments.first
    default: nil
    }
  }

  /// `bytes` are those at the word's address. Layouts: pthread_mutex_t and pthread_rwlock_t of glibc on x86-64
  /// (sysdeps/nptl/bits/struct_mutex.h, sysdeps/x86/nptl/bits/struct_rwlock.h), operations as in futex(2).
  package init(_ call: BlockedCall, bytes: [UInt8], functions: [ByteString]) {
    self = .other
    guard bytes.count >= Self.length else { return }
    func field(_ offset: Int) -> UInt32 {
      (0..<4).reduce(0) { $0 | UInt32(bytes[offset + $1]) << UInt32(8 * $1) }
    }
    let word = field(0)
    let isFutex = call.number == SystemCallNumber.futex
    // FUTEX_CMD_MASK takes away FUTEX_PRIVATE_FLAG (128) and FUTEX_CLOCK_REALTIME (256).
    let command = isFutex ? call.arguments.second & 0x7F : 0
    let isPrivate = !isFutex || call.arguments.second & 128 != 0
    let expected = UInt32(truncatingIfNeeded: isFutex ? call.arguments.third : call.arguments.second)

    switch command {
    case 6, 13:  // FUTEX_LOCK_PI, FUTEX_LOCK_PI2
      self = .inheritingMutex(owner: Int32(word & Self.threadIDMask))
    case 0, 9:  // FUTEX_WAIT, FUTEX_WAIT_BITSET
      if functions.contains(where: { $0.bytes.containsText("rwlock") }) {
        self = .readWriteLock(writer: Self.writer(functions, field))
      } else if expected == 2, word == 2 || word == 1 {
        self = .mutex(owner: Self.mutexOwner(field))
      } else if word == expected, word & Self.waitersBit != 0, field(16) & 0x7F == 16 | field(16) & 3 {
        self = .mutex(owner: Int32(word & Self.threadIDMask))  // PTHREAD_MUTEX_ROBUST_NORMAL_NP is 16
      } else if word == expected, word > 2, word <= Self.threadIDMask, !isPrivate {
        self = .threadEnd(Int32(word))
      }
    default: break
    }
  }

  /// `__owner` at +8, believed if `__nusers` at +12 and `__kind` at +16 look like those of a held mutex. A stdio lock
  /// has a pointer at +8, Rust's mutex whatever it protects. Users are the owner and who waits on conditions with this
  /// mutex; the upper half of a pointer would be thousands of them.
  private static func mutexOwner(_ field: (Int) -> UInt32) -> Int32? {
    let owner = field(8)
    let users = field(12)
    // Type 0–3, process-shared 128, elision 256 and 512; robust (16) and inheriting (32) ones wait differently.
    let isKindPlausible = field(16) & ~(3 | 128 | 256 | 512) == 0
    guard owner > 0, owner <= threadIDMask, users > 0, users < 4096, isKindPlausible else { return nil }
    return Int32(owner)
  }

  /// `__cur_writer` at +24; readers wait on the word at +8, writers also on that at +12. Zero while readers hold it.
  private static func writer(_ functions: [ByteString], _ field: (Int) -> UInt32) -> Int32? {
    [field(16), field(12)].first { $0 > 0 && $0 <= threadIDMask }.map { Int32($0) }
  }
}

extension [UInt8] {
  func containsText(_ text: StaticString) -> Bool {
    let wanted = Array("\(text)".utf8)
    guard count >= wanted.count else { return false }
    return (0...(count - wanted.count)).contains { self[$0...].starts(with: wanted) }
  }
}
