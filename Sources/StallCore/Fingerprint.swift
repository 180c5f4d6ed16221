// The identity of a place: the same stack gives the same value across runs and builds.

/// A hash of the module and symbol names of a stack.
package struct Fingerprint: Hashable, Sendable {
  package let value: UInt64

  /// Addresses, lines and offsets do not count: they change with every build. Nor do inlined calls, which are known only
  /// where there is debug information. A frame without a symbol counts by its
  /// module alone. FNV-1a, 64 bits: stable by definition, which Swift's `Hasher` is not.
  package init(_ stack: Stack) {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    func mix(_ bytes: some Sequence<UInt8>) {
      for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    }
    for frame in stack.frames where !frame.isInlined {
      mix(frame.module?.name.bytes ?? [])
      mix([0])
      mix(frame.symbol?.bytes ?? [])
      mix([1])
    }
    value = hash
  }

  /// Sixteen lower-case hex digits.
  package var text: String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
