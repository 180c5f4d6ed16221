// Copies of a dump that will do for the next one: of threads that have not run since.

internal import Stacks
internal import StallCore

/// A thread cannot run without being counted, and one that does not run stays where it is. The copies of one dump, or of as
/// many of its threads as there is room for.
struct KeptCopies {
  private var copies: [Int32: (blocked: BlockedRegisters, copy: RawCapture)] = [:]
  private var bytes = 0

  /// Of stacks that nobody else has any use for.
  private static let mostBytes = 1 << 20

  mutating func keep(_ copy: RawCapture, of member: GroupMember) {
    guard let blocked = member.blocked, bytes + copy.stackByteCount <= Self.mostBytes else { return }
    bytes += copy.stackByteCount
    copies[member.threadID] = (blocked, copy)
  }

  /// What another copy of it would show. Nil: it has run, or may have.
  func copy(of member: GroupMember) -> RawCapture? {
    guard let blocked = member.blocked, let kept = copies[member.threadID], kept.blocked == blocked else {
      return nil
    }
    return kept.copy
  }
}
