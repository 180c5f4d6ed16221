// The bytes of one input, taken from the front as whatever the parser under test wants.

/// Gives numbers as long as there are bytes, then zeros.
struct Input {
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  var isEmpty: Bool { rest.isEmpty }

  mutating func number<Number: FixedWidthInteger>(_: Number.Type = Number.self) -> Number {
    var value: Number = 0
    for place in 0..<Number.bitWidth / 8 {
      value |= Number(truncatingIfNeeded: rest.popFirst() ?? 0) << Number(truncatingIfNeeded: 8 * place)
    }
    return value
  }

  mutating func take(_ count: Int) -> [UInt8] {
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }
}

extension FixedWidthInteger {
  /// As an `Input` takes it.
  var inputBytes: [UInt8] { (0..<bitWidth / 8).map { UInt8(truncatingIfNeeded: self >> (8 * $0)) } }
}
