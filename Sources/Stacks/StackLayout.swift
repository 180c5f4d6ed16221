// Where the bytes of a copied stack come from: up to three pieces, one behind the other in the copy.

/// A run of copied stack bytes.
package struct StackPiece: Sendable {
  /// Address of the first byte.
  package var address: UInt64
  package var bytes: [UInt8]
  /// Copied when the thread went on again, and without proof that it stood still: of another moment if it has returned
  /// that far meanwhile.
  package var isLater: Bool

  package init(address: UInt64, bytes: [UInt8], isLater: Bool = false) {
    self.address = address
    self.bytes = bytes
    self.isLater = isLater
  }
}

struct StackLayout: Equatable {
  /// From the stack pointer upwards.
  var topAddress: UInt64 = 0
  var topCount = 0
  /// From the stack pointer that a signal interrupted whose handler runs on a stack of its own.
  var interruptedAddress: UInt64 = 0
  var interruptedCount = 0
  var isInterruptedLater = false
  /// What goes on behind the last of the two.
  var restCount = 0
  var isRestLater = false

  var count: Int { topCount + interruptedCount + restCount }

  /// Where the rest begins.
  var restAddress: UInt64 {
    interruptedCount > 0
      ? interruptedAddress &+ UInt64(interruptedCount) : topAddress &+ UInt64(topCount)
  }

  /// Takes the copy apart; the first piece is always there. Fewer bytes than the layout tells of make shorter pieces.
  func pieces(of bytes: [UInt8]) -> [StackPiece] {
    let interrupted = bytes.dropFirst(topCount), rest = interrupted.dropFirst(interruptedCount)
    var pieces = [StackPiece(address: topAddress, bytes: Array(bytes.prefix(topCount)))]
    if interruptedCount > 0 {
      let bytes = Array(interrupted.prefix(interruptedCount))
      pieces.append(StackPiece(address: interruptedAddress, bytes: bytes, isLater: isInterruptedLater))
    }
    if restCount > 0 {
      let bytes = Array(rest.prefix(restCount))
      pieces.append(StackPiece(address: restAddress, bytes: bytes, isLater: isRestLater))
    }
    return pieces
  }
}
