// Reading numbers and words out of the text of `/proc` files, without pointers and without allocation.

/// Positions move forward over what was recognised and stay where nothing was.
extension Span<UInt8> {
  package func skip(_ byte: UInt8, at position: inout Int) {
    while position < count, self[position] == byte { position += 1 }
  }

  /// Skips blanks and tabs.
  package func skipBlanks(at position: inout Int) {
    while position < count, self[position] == 0x20 || self[position] == 0x09 { position += 1 }
  }

  /// Moves behind the next `byte`; false (and to the end) if there is none.
  @discardableResult
  package func skipPast(_ byte: UInt8, at position: inout Int) -> Bool {
    while position < count {
      position += 1
      if self[position - 1] == byte { return true }
    }
    return false
  }

  /// An unsigned decimal number; nil if there is no digit or it does not fit.
  package func decimal(at position: inout Int) -> UInt64? {
    number(at: &position, radix: 10)
  }

  /// A hexadecimal number, with or without `0x`.
  package func hexadecimal(at position: inout Int) -> UInt64? {
    if position + 1 < count, self[position] == 0x30, self[position + 1] | 0x20 == 0x78 { position += 2 }
    return number(at: &position, radix: 16)
  }

  private func number(at position: inout Int, radix: UInt64) -> UInt64? {
    var value: UInt64 = 0
    let start = position
    while position < count, let digit = Self.digit(self[position]), digit < radix {
      let (product, overflow) = value.multipliedReportingOverflow(by: radix)
      let (sum, carry) = product.addingReportingOverflow(digit)
      if overflow || carry { return nil }
      value = sum
      position += 1
    }
    return position > start ? value : nil
  }

  private static func digit(_ byte: UInt8) -> UInt64? {
    switch byte {
    case 0x30...0x39: UInt64(byte) - 0x30
    case 0x61...0x66: UInt64(byte) - 0x61 + 10
    case 0x41...0x46: UInt64(byte) - 0x41 + 10
    default: nil
    }
  }

  /// Whether `text` stands at the position.
  package func matches(_ text: StaticString, at position: Int) -> Bool {
    guard position + text.utf8CodeUnitCount <= count else { return false }
    for offset in 0..<text.utf8CodeUnitCount
    where unsafe self[position + offset] != text.utf8Start[offset] { return false }
    return true
  }

  /// The position behind a line's key, or nil: `text` at the beginning of a line at or after `start`.
  package func endOfKey(_ text: StaticString, from start: Int) -> Int? {
    var position = start
    while position < count {
      if matches(text, at: position) { return position + text.utf8CodeUnitCount }
      skipPast(0x0A, at: &position)
    }
    return nil
  }
}
