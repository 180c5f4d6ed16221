// What one walk may read: the copied stack and the files of the address space, within a budget.

internal import Linux
internal import StallCore

/// The memory of a walk, and a note of what was asked for in vain.
final class WalkMemory {
  let space: AddressSpace
  private let stackAddress: UInt64
  private let stackBytes: [UInt8]
  /// A frame needs some hundred reads. Unwind programs are the target's and can be made to run for ever.
  private(set) var readsLeft = 1_000_000
  /// Set by the first read that found nothing.
  var missedBytes = false

  init(_ snapshot: ThreadSnapshot, _ space: AddressSpace) {
    self.space = space
    stackAddress = snapshot.stackAddress
    stackBytes = snapshot.stackBytes
  }

  func stackWord(at address: UInt64) -> UInt64? {
    let offset = address &- stackAddress
    guard offset < UInt64(stackBytes.count), UInt64(stackBytes.count) - offset >= 8 else { return nil }
    return unsafe stackBytes.withUnsafeBytes {
      unsafe $0.loadUnaligned(fromByteOffset: Int(offset), as: UInt64.self)
    }
  }

  /// A word of the copied stack, else of a mapped file.
  func word(at address: UInt64) -> UInt64? {
    guard readsLeft > 0 else { return nil }
    readsLeft -= 1
    if let word = stackWord(at: address) ?? space.fileWord(at: address) { return word }
    missedBytes = true
    return nil
  }

  /// The address lies in the same mapping as the copy, above what was copied.
  func isBeyondCopy(_ address: UInt64) -> Bool {
    guard let region = space.region(containing: stackAddress) else { return false }
    return address >= stackAddress &+ UInt64(stackBytes.count) && address < region.end
  }
}
