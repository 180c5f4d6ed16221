// The identity of a place: the same stack gives the same value across runs and builds.

/// FNV-1a, 64 bits: stable by definition, which Swift's `Hasher` is not.
struct StableHash {
  private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

  init() {}

  mutating func mix(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
  }

  mutating func mix(_ number: UInt64) {
    for shift in stride(from: 0, to: 64, by: 8) {
      mix(CollectionOfOne(UInt8(truncatingIfNeeded: number >> shift)))
    }
  }

  /// Inlined calls do not count: they are known only where there is debug information.
  init(_ stack: Stack, nameless: (Frame, inout StableHash) -> Void) {
    for frame in stack.frames where !frame.isInlined {
      mix(frame.module?.name.bytes ?? [])
      mix([0])
      if let symbol = frame.symbol { mix(symbol.bytes) } else { nameless(frame, &self) }
      mix([1])
    }
  }
}

/// A hash of the module and symbol names of a stack.
package struct Fingerprint: Hashable, Sendable {
  package let value: UInt64

  /// Addresses, lines and offsets do not count: they change with every build. A frame without a symbol counts by its
  /// module alone.
  package init(_ stack: Stack) { value = StableHash(stack) { _, _ in }.value }

  /// Sixteen lower-case hex digits.
  package var text: String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
