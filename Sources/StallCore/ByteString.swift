// A name as the kernel or the target gives it: any bytes, shown escaped and kept exact.

/// Bytes that are usually text but need not be: thread names, paths, symbols.
///
/// Whoever is watched chooses these bytes. They reach a terminal or a JSON record only through `escaped`.
package struct ByteString: Hashable, Sendable {
  package var bytes: [UInt8]

  package init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }
  package init(_ text: String) { bytes = Array(text.utf8) }

  /// True if the bytes are valid UTF-8 and need no escape, so that `escaped` alone tells everything.
  package var isPlain: Bool {
    (isPrintableASCII || bytes == Array(escaped.utf8)) && !bytes.contains(0x5C)
  }

  /// As nearly all names are, and then nothing need be looked up for them.
  private var isPrintableASCII: Bool { bytes.allSatisfy { 0x20 <= $0 && $0 < 0x7F } }

  /// The text with every byte that is no part of valid UTF-8 as `\xff`, and every character that could steer a
  /// terminal or hide text (C0, C1, DEL, bidirectional marks, line separators) as `\x1b` or `\u{202e}`.
  package var escaped: String {
    if isPrintableASCII { return String(decoding: bytes, as: UTF8.self) }
    var result = ""
    result.reserveCapacity(bytes.count)
    var rest = bytes[...]
    while let first = rest.first {
      if let (scalar, length) = Self.decodeScalar(rest) {
        Self.append(scalar, to: &result)
        rest = rest.dropFirst(length)
      } else {
        result += Self.hexEscape(first)
        rest = rest.dropFirst()
      }
    }
    return result
  }

  private static func append(_ scalar: Unicode.Scalar, to result: inout String) {
    switch scalar.value {
    case 0..<0x20, 0x7F: result += hexEscape(UInt8(scalar.value))
    case _ where steersText(scalar): result += "\\u{\(String(scalar.value, radix: 16))}"
    default: result.unicodeScalars.append(scalar)
    }
  }

  /// C1 controls, and the general categories that format, separate or are not assigned for display.
  private static func steersText(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: true
    default: false
    }
  }

  private static func hexEscape(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16)
    return "\\x" + (digits.count == 1 ? "0" : "") + digits
  }

  /// The scalar at the front and its length in bytes, or nil if the front is not well-formed UTF-8
  /// (Unicode 15, table 3-7).
  private static func decodeScalar(_ bytes: ArraySlice<UInt8>) -> (Unicode.Scalar, Int)? {
    guard let first = bytes.first else { return nil }
    let length: Int
    switch first {
    case 0..<0x80: return (Unicode.Scalar(first), 1)
    case 0xC2...0xDF: length = 2
    case 0xE0...0xEF: length = 3
    case 0xF0...0xF4: length = 4
    default: return nil
    }
    guard bytes.count >= length else { return nil }
    var value = UInt32(first) & (0x7F >> UInt32(length))
    for byte in bytes.dropFirst().prefix(length - 1) {
      guard byte & 0xC0 == 0x80 else { return nil }
      value = value << 6 | UInt32(byte & 0x3F)
    }
    let smallest: UInt32 = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000
    guard value >= smallest, let scalar = Unicode.Scalar(value) else { return nil }
    return (scalar, length)
  }
}

extension ByteString: ExpressibleByStringLiteral {
  package init(stringLiteral value: String) { self.init(value) }
}
