// The values that fields of records are made of; each has one form only, and none can carry a raw control character.

internal import FoundationEssentials
package import StallCore

/// Text that may be shown: escaped at birth, as `ByteString.escaped` does it.
package struct EscapedText: Hashable, Sendable, Encodable, ExpressibleByStringLiteral {
  package let text: String

  package init(_ text: String) { self.text = ByteString(text).escaped }
  package init(_ bytes: ByteString) { text = bytes.escaped }
  package init(stringLiteral value: String) { self.init(value) }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

/// Bytes as base64, for what `EscapedText` does not tell exactly.
struct ExactBytes: Hashable, Sendable, Encodable {
  private let bytes: [UInt8]

  /// Nil if the escaped text tells everything.
  init?(_ name: ByteString?) {
    guard let name, !name.isPlain else { return nil }
    bytes = name.bytes
  }

  var exact: ByteString { ByteString(bytes) }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(Data(bytes).base64EncodedString())
  }
}

/// An address or an offset: `0x` and lower-case hex, since JSON readers lose what is above 2⁵³.
struct Address: Hashable, Sendable, Encodable {
  let value: UInt64

  var text: String { "0x" + String(value, radix: 16) }

  init(_ value: UInt64) { self.value = value }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

/// A duration in milliseconds, with three decimals at most.
package struct Milliseconds: Hashable, Sendable, Encodable {
  let duration: Duration

  init(_ duration: Duration) { self.duration = duration }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(Double(duration.wholeMicroseconds) / 1_000)
  }
}

/// A share in percent, with two decimals at most.
package struct Percent: Hashable, Sendable, Encodable {
  package let value: Double

  /// Nil if there is no whole to have a share of.
  init?(_ part: Duration, of whole: Duration) {
    guard whole > .zero else { return nil }
    self.init(100 * (part / whole))
  }

  init(_ value: Double) { self.value = value.isFinite ? (value * 100).rounded() / 100 : 0 }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }
}

extension Duration {
  /// Rounded to the nearest.
  var wholeMicroseconds: Int64 { floorDivision(nanoseconds &+ 500, 1_000).quotient }
}
