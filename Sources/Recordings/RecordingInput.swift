// The bytes of a recording while they are read: they may be anybody's.

internal import StallCore

struct RecordingInput {
  private let bytes: [UInt8]
  private(set) var position: Int
  private let end: Int
  /// Within an entry that says how long it is, a missing byte is damage, not an early end.
  private let isPart: Bool

  init(_ bytes: [UInt8], from position: Int) {
    self.init(bytes, position, bytes.count, isPart: false)
  }

  private init(_ bytes: [UInt8], _ position: Int, _ end: Int, isPart: Bool) {
    (self.bytes, self.position, self.end, self.isPart) = (bytes, position, end, isPart)
  }

  var isAtEnd: Bool { position >= end }

  var damage: RecordingProblem { .damaged(atByte: position) }

  private var shortage: RecordingProblem { isPart ? damage : .endsEarly }

  /// The next bytes as an input of their own.
  mutating func part() throws(RecordingProblem) -> RecordingInput {
    let count = try number()
    guard count <= UInt64(end - position) else { throw shortage }
    defer { position += Int(count) }
    return RecordingInput(bytes, position, position + Int(count), isPart: true)
  }

  mutating func byte() throws(RecordingProblem) -> UInt8 {
    guard position < end else { throw shortage }
    defer { position += 1 }
    return bytes[position]
  }

  mutating func number() throws(RecordingProblem) -> UInt64 {
    var result: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 64, by: 7) {
      let next = try byte()
      guard shift < 63 || next <= 1 else { throw damage }
      result |= UInt64(next & 0x7F) << shift
      if next < 0x80 { return result }
    }
    throw damage
  }

  mutating func number(upTo most: Int) throws(RecordingProblem) -> Int {
    let value = try number()
    guard value <= UInt64(most) else { throw damage }
    return Int(value)
  }

  mutating func signed() throws(RecordingProblem) -> Int64 { Int64(zigzag: try number()) }

  mutating func flag() throws(RecordingProblem) -> Bool { try number(upTo: 1) == 1 }

  mutating func moment() throws(RecordingProblem) -> Instant {
    Instant(microseconds: Int64(try number(upTo: Int(RecordingFormat.mostMicroseconds))))
  }

  mutating func duration() throws(RecordingProblem) -> Duration {
    .microseconds(try number(upTo: Int(RecordingFormat.mostMicroseconds)))
  }

  /// A 32-bit number such as a process id.
  mutating func identifier() throws(RecordingProblem) -> Int32 {
    guard let value = Int32(exactly: try signed()) else { throw damage }
    return value
  }

  mutating func string() throws(RecordingProblem) -> ByteString {
    let count = try number(upTo: RecordingFormat.mostStringBytes)
    guard count <= end - position else { throw shortage }
    defer { position += count }
    return ByteString(bytes[position..<position + count])
  }
}
