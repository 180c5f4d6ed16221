// Makes the nth input of a parser out of its seeds: the same on every machine and in every run.

/// SplitMix64 (Steele, Lea, Flood 2014).
struct Numbers: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    return value ^ value >> 31
  }
}

/// Changes seeds in the ways that find mistakes: bits, digits, edges of number ranges, repeats, cuts, other seeds' parts.
struct Mutator {
  static let mostBytes = 16_384
  private static let extremes: [UInt64] = [
    0, 1, 2, 7, 8, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 1 << 32, 1 << 47,
    1 << 63, .max - 7, .max,
  ]
  private static let texts = [
    "-1", "0", "18446744073709551615", "18446744073709551616", "9223372036854775808", "0x",
    "ffffffffffffffff",
    "\n", " ", ")", "(", ":", "\\012", " (deleted)", "\u{1B}[2J", "\u{202E}", "\u{FFFD}",
  ].map { Array($0.utf8) }

  private let seeds: [[UInt8]]
  private let number: UInt64
  private var numbers: Numbers

  init(_ seeds: [[UInt8]], input: UInt64) {
    self.seeds = seeds
    number = input
    numbers = Numbers(input &* 0x2545_F491_4F6C_DD1D)
  }

  /// The first ones are the seeds themselves.
  mutating func input() -> [UInt8] {
    if number < UInt64(seeds.count) { return seeds[Int(number)] }
    var bytes = seeds.randomElement(using: &numbers) ?? []
    for _ in 0...Int.random(in: 0..<6, using: &numbers) { change(&bytes) }
    return Array(bytes.prefix(Self.mostBytes))
  }

  private mutating func change(_ bytes: inout [UInt8]) {
    let place = Int.random(in: 0...bytes.count, using: &numbers)
    let end = min(bytes.count, place + Int.random(in: 1...16, using: &numbers))
    switch Int.random(in: 0..<9, using: &numbers) {
    case 0 where place < bytes.count: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &numbers)
    case 1 where place < bytes.count: bytes[place] = UInt8.random(in: 0...255, using: &numbers)
    case 2: overwrite(&bytes, at: place, with: (Self.extremes.randomElement(using: &numbers) ?? 0).inputBytes)
    case 3: overwrite(&bytes, at: place, with: numbers.next().inputBytes)
    case 4: bytes.removeSubrange(place..<end)
    case 5: bytes.insert(contentsOf: bytes[place..<end], at: place)
    case 6: bytes.insert(contentsOf: Self.texts.randomElement(using: &numbers) ?? [], at: place)
    case 7:
      let other = seeds.randomElement(using: &numbers) ?? []
      bytes.replaceSubrange(place..., with: other.suffix(Int.random(in: 0...other.count, using: &numbers)))
    default: bytes.removeSubrange(place...)
    }
  }

  /// One, two, four or all eight of the bytes.
  private mutating func overwrite(_ bytes: inout [UInt8], at place: Int, with word: [UInt8]) {
    let width = 1 << Int.random(in: 0...3, using: &numbers)
    let end = min(bytes.count, place + width)
    bytes.replaceSubrange(place..<end, with: word.prefix(end - place))
  }
}
