// The place in the code that a stack stands for: when two are the same, and what to call it.

/// What reports of one watch are taken to be of the same place: those that read the same. Like the fingerprint, but a
/// function without a name counts by where it lies, as long as it lies in a file.
package struct PlaceIdentity: Hashable, Sendable {
  private let value: UInt64

  package init(_ stack: Stack) {
    value =
      StableHash(stack) { frame, hash in
        if !frame.isGenerated { hash.mix(frame.moduleOffset ?? frame.programCounter) }
      }.value
  }
}

extension Stack {
  /// False if so little of the stack is known that others would look the same: a call of the C library and whoever
  /// made it.
  package var identifiesPlace: Bool { end == .root || frames.count { !$0.isInlined } > 2 }

  /// What to call the place: the innermost function of the program's own file, else the innermost that has a name.
  package var placeName: ByteString {
    let named = frames.first { !$0.isInlined && $0.symbol != nil }
    return ownFunction ?? named?.symbol ?? frames.first?.module?.name ?? "?"
  }

  /// The innermost function of the program's own file, which is that of the outermost named frame of `main`. Inlined calls
  /// do not count, as in fingerprints.
  package var ownFunction: ByteString? {
    let main = frames.last { $0.symbol == "main" }?.module
    return frames.first { !$0.isInlined && $0.symbol != nil && $0.module != nil && $0.module == main }?.symbol
  }
}
