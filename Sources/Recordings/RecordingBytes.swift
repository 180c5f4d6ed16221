// The bytes of a recording while they are written: numbers in as few bytes as they need.

package import StallCore

/// Within the capacity it was made with, appending allocates nothing.
package struct RecordingBytes: Sendable {
  package private(set) var bytes: [UInt8] = []

  package init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

  package var count: Int { bytes.count }

  mutating func append(_ byte: UInt8) { bytes.append(byte) }

  mutating func append(contentsOf others: [UInt8]) { bytes.append(contentsOf: others) }

  /// Seven bits a byte, the lowest first; all bytes but the last have the highest bit set (LEB128).
  mutating func append(number: UInt64) {
    var rest = number
    while rest > 0x7F {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  mutating func append(count: Int) { append(number: UInt64(count)) }

  mutating func append(signed: Int64) { append(number: signed.zigzag) }

  /// Longer ones are cut.
  mutating func append(string: [UInt8]) {
    let kept = string.prefix(RecordingFormat.mostStringBytes)
    append(count: kept.count)
    bytes.append(contentsOf: kept)
  }

  /// A short entry: its body is less than 128 bytes.
  mutating func append(_ kind: EntryKind, body: (inout RecordingBytes) -> Void) {
    append(kind.rawValue)
    let place = bytes.count
    append(0)
    body(&self)
    bytes[place] = UInt8(bytes.count - place - 1)
  }

  /// An entry of any length.
  mutating func append(_ kind: EntryKind, longBody: RecordingBytes) {
    append(kind.rawValue)
    append(count: longBody.count)
    append(contentsOf: longBody.bytes)
  }

  mutating func append<Item>(list: [Item], each: (Item, inout RecordingBytes) -> Void) {
    let kept = list.prefix(RecordingFormat.mostItems)
    append(count: kept.count)
    for item in kept { each(item, &self) }
  }

  mutating func append(_ moment: Instant) { append(number: UInt64(max(0, moment.microseconds))) }
  mutating func append(_ duration: Duration) { append(number: UInt64(max(0, duration.microseconds))) }
}

extension Int64 {
  /// Small numbers of both signs become small numbers without one.
  var zigzag: UInt64 { UInt64(bitPattern: self << 1 ^ self >> 63) }

  init(zigzag: UInt64) { self = Int64(bitPattern: zigzag >> 1) ^ -Int64(bitPattern: zigzag & 1) }
}

/// A recording has moments and durations in whole microseconds, cut towards zero: order is kept. A watch that is
/// recorded judges what the recording will have, so that a replay comes to the same.
package protocol RecordedInMicroseconds {
  var cut: Self { get }
}

extension Instant: RecordedInMicroseconds {
  var microseconds: Int64 { nanoseconds / 1_000 }

  init(microseconds: Int64) { self.init(nanoseconds: microseconds * 1_000) }

  package var cut: Instant { Instant(microseconds: microseconds) }
}

extension Duration: RecordedInMicroseconds {
  var microseconds: Int64 { nanoseconds / 1_000 }

  package var cut: Duration { .microseconds(microseconds) }
}
