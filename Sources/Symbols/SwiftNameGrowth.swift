// How much longer than itself a mangled Swift name can read.

internal import Glibc

/// Swift's demangler has no limit of its own: `A` repeats earlier types by their number (`ABc`: two of them; `A9b`: the
/// same one nine times), and generic types (`G`), associated types (`Q`) and protocol lists (`p`) that hold repeats can
/// be repeated in turn, so 200 bytes can stand for 2^30 types.
///
/// Two bounds, as powers of two. Putting in all copies of one type at a time, each r copies multiply the length by no
/// more than 1 + r. And evenly spread over the levels, r repeats on l levels multiply it by (1 + r/l)^l. Letters of
/// identifiers do not count. It is an estimate; what it misses is left to the time limit of the process that demangles.
struct SwiftNameGrowth {
  private var repeats: [UInt32: Int] = [:]
  private var levels = 0

  private static let largestNumber = 4096

  init(of name: [UInt8]) {
    var rest = name[...]
    while let letter = rest.popFirst() {
      switch letter {
      case UInt8(ascii: "A"): takeRepeats(&rest)
      case UInt8(ascii: "G"), UInt8(ascii: "Q"), UInt8(ascii: "p"): levels += 1
      // A known type with a count (`S2i`), and the number of the pass that specialized a function (`Tg5`).
      case UInt8(ascii: "S"): _ = Self.takeNumber(&rest)
      case UInt8(ascii: "T"):
        for _ in 0..<3 where rest.first.map(Self.isLetter) == true {
          count(rest.removeFirst())
        }
        _ = Self.takeNumber(&rest)
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        rest = name[(rest.startIndex - 1)...]
        skipIdentifier(&rest)
      default: break
      }
    }
  }

  var exponent: Double {
    let all = Double(repeats.values.reduce(0, +))
    let depth = max(1, min(Double(levels), all))
    return min(
      depth * log2(1 + all / depth), repeats.values.reduce(0) { $0 + log2(1 + Double($1)) })
  }

  /// A letter that may be an operator or part of one.
  private mutating func count(_ letter: UInt8) {
    if "GQp".utf8.contains(letter) { levels += 1 }
    if letter == UInt8(ascii: "A") { repeats[0, default: 0] += 1 }
  }

  /// Lower-case letters are followed by further ones, an upper-case letter is the last; a number before a letter is how
  /// often, before `_` it is which.
  private mutating func takeRepeats(_ rest: inout ArraySlice<UInt8>) {
    while !rest.isEmpty {
      let number = Self.takeNumber(&rest)
      guard let letter = rest.first, Self.isLetter(letter) || letter == UInt8(ascii: "_") else { return }
      rest.removeFirst()
      if letter == UInt8(ascii: "_") {
        repeats[256 + UInt32(number), default: 0] += 1
        return
      }
      repeats[UInt32(letter & 0x5F), default: 0] += max(number, 1)
      if letter < UInt8(ascii: "a") { return }
    }
  }

  /// A length and that many bytes. A number before `_` counts something else; one that begins with 0 is followed by
  /// letters that stand for words.
  private func skipIdentifier(_ rest: inout ArraySlice<UInt8>) {
    let isLength = rest.first != UInt8(ascii: "0")
    let length = Self.takeNumber(&rest)
    if isLength, let first = rest.first, first != UInt8(ascii: "_"), length <= rest.count {
      rest = rest.dropFirst(length)
    }
  }

  private static func takeNumber(_ rest: inout ArraySlice<UInt8>) -> Int {
    var number = 0
    while let digit = rest.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) {
      number = min(number * 10 + Int(digit - UInt8(ascii: "0")), largestNumber)
      rest.removeFirst()
    }
    return number
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & 0xDF)
  }
}
