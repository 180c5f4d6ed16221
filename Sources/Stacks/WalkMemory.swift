// What one walk may read: the copied stack and the files of the address space, within a budget.

internal import Linux
internal import StallCore

/// The memory of a walk, and a note of what was asked for in vain.
final class WalkMemory {
  let space: AddressSpace
  private let pieces: [StackPiece]
  /// A frame needs some hundred reads. Unwind programs are the target's and can be made to run for ever.
  private(set) var readsLeft = 1_000_000
  /// Set by the first read that found nothing.
  var missedBytes = false
  /// Set by the first word of a piece that may be of a later moment.
  private(set) var usedLaterBytes = false

  init(_ snapshot: ThreadSnapshot, _ space: AddressSpace) {
    self.space = space
    pieces = [StackPiece(address: snapshot.stackAddress, bytes: snapshot.stackBytes)] + snapshot.morePieces
  }

  func stackWord(at address: UInt64) -> UInt64? {
    for piece in pieces {
      guard let word = piece.word(at: address) else { continue }
      if piece.isLater { usedLaterBytes = true }
      return word
    }
    return nil
  }

  /// A word of the copied stack, else of a mapped file.
  func word(at address: UInt64) -> UInt64? {
    guard readsLeft > 0 else { return nil }
    readsLeft -= 1
    if let word = stackWord(at: address) ?? space.fileWord(at: address) { return word }
    missedBytes = true
    return nil
  }

  /// The address lies in the same mapping as a copied piece, above what was copied.
  func isBeyondCopy(_ address: UInt64) -> Bool {
    pieces.contains { piece in
      guard let region = space.region(containing: piece.address) else { return false }
      return address >= piece.address &+ UInt64(piece.bytes.count) && address < region.end
    }
  }
}

extension StackPiece {
  fileprivate func word(at address: UInt64) -> UInt64? {
    let offset = address &- self.address
    guard offset < UInt64(bytes.count), UInt64(bytes.count) - offset >= 8 else { return nil }
    return unsafe bytes.withUnsafeBytes {
      unsafe $0.loadUnaligned(fromByteOffset: Int(offset), as: UInt64.self)
    }
  }
}
