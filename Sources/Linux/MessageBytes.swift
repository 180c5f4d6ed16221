// The bytes of a message between two of our processes: little-endian words, and strings with their length before them.

internal import Glibc

package struct MessageWriter {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  package mutating func append(_ word: UInt64) {
    unsafe withUnsafeBytes(of: word.littleEndian) { unsafe bytes.append(contentsOf: $0) }
  }

  package mutating func append(_ number: Int64) { append(UInt64(bitPattern: number)) }
  package mutating func append(_ number: Int) { append(Int64(number)) }
  package mutating func append(_ flag: Bool) { append(UInt64(flag ? 1 : 0)) }

  package mutating func append(_ string: [UInt8]) {
    append(string.count)
    bytes += string
  }

  /// A word that says whether there is a value, and the value if there is.
  package mutating func append<Value>(
    optional value: Value?, _ write: (inout MessageWriter, Value) -> Void
  ) {
    append(value != nil)
    if let value { write(&self, value) }
  }
}

/// Reads what a `MessageWriter` wrote. The other process may be broken: nothing here traps, and no length is believed.
package struct MessageReader {
  package struct Malformed: Error {
    package init() {}
  }

  private let bytes: [UInt8]
  private var position = 0

  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  package var isAtEnd: Bool { position == bytes.count }

  package mutating func word() throws(Malformed) -> UInt64 {
    guard bytes.count - position >= 8 else { throw Malformed() }
    defer { position += 8 }
    return bytes.littleEndian(at: position, count: 8)
  }

  package mutating func number() throws(Malformed) -> Int64 { Int64(bitPattern: try word()) }
  package mutating func flag() throws(Malformed) -> Bool { try word() != 0 }

  package mutating func integer(in range: ClosedRange<Int>) throws(Malformed) -> Int {
    guard let value = Int(exactly: try number()), range.contains(value) else { throw Malformed() }
    return value
  }

  package mutating func string() throws(Malformed) -> [UInt8] {
    let count = try integer(in: 0...(bytes.count - position))
    guard bytes.count - position >= count else { throw Malformed() }
    defer { position += count }
    return Array(bytes[position..<position + count])
  }

  package mutating func optional<Value>(
    _ read: (inout MessageReader) throws(Malformed) -> Value
  ) throws(Malformed) -> Value? {
    try flag() ? try read(&self) : nil
  }

  /// At most as many elements as the message can hold, each at least one word.
  package mutating func list<Element>(
    _ read: (inout MessageReader) throws(Malformed) -> Element
  ) throws(Malformed) -> [Element] {
    let count = try integer(in: 0...((bytes.count - position) / 8))
    var elements: [Element] = []
    for _ in 0..<count { elements.append(try read(&self)) }
    return elements
  }
}

extension [UInt8] {
  /// As `==`, which takes one byte after the other.
  package func hasSameBytes(as other: [UInt8]) -> Bool {
    unsafe withUnsafeBytes { mine in
      unsafe other.withUnsafeBytes { theirs in
        guard mine.count == theirs.count else { return false }
        guard let one = mine.baseAddress, let two = theirs.baseAddress else { return true }
        return unsafe memcmp(one, two, mine.count) == 0
      }
    }
  }
}
