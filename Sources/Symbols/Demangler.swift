// Mangled names made readable: Swift, C++ and both Rust schemes, chosen by prefix.

internal import CDemangle
internal import Glibc
package import StallCore

/// Names come from files that nobody vouches for, so input and output are limited; what exceeds them stays raw.
package enum Demangler {
  package static let maximumInput = 4096
  package static let maximumOutput = 16_384

  private enum Scheme {
    case swift, cpp, rust
  }

  /// The readable name, or nil if the name is of no known scheme, malformed, or beyond the limits.
  package static func demangle(_ mangled: ByteString) -> ByteString? {
    let name = mangled.bytes
    guard name.count <= maximumInput, !name.contains(0), let scheme = scheme(of: name) else { return nil }
    let result: [UInt8]? =
      switch scheme {
      case .swift: swift(name)
      case .cpp: bounded(name, isRust: false)
      case .rust: bounded(name, isRust: true)
      }
    return result.map { ByteString($0) }
  }

  private static func scheme(of name: [UInt8]) -> Scheme? {
    func begins(_ prefixes: String...) -> Bool { prefixes.contains { name.starts(with: $0.utf8) } }
    if begins("$s", "$S", "_$s", "_$S", "_T0") { return .swift }
    if begins("_R") { return .rust }
    if begins("_Z") { return hasRustHash(name) ? .rust : .cpp }
    return nil
  }

  /// Rust's first scheme is C++'s with a last component `h` and 16 hex digits: `_ZN…17h0123456789abcdefE`.
  private static func hasRustHash(_ name: [UInt8]) -> Bool {
    guard name.starts(with: "_ZN".utf8), name.count > 23 else { return false }
    let tail = name.suffix(20)
    return tail.starts(with: "17h".utf8) && tail.last == UInt8(ascii: "E")
      && tail.dropFirst(3).dropLast().allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
  }

  private static func bounded(_ name: [UInt8], isRust: Bool) -> [UInt8]? {
    let result = unsafe [UInt8](unsafeUninitializedCapacity: maximumOutput) { buffer, count in
      count = unsafe (name + [0]).withUnsafeBytes { mangled in
        unsafe cdemangle_bounded(
          isRust ? 1 : 0, mangled.baseAddress?.assumingMemoryBound(to: CChar.self), buffer.baseAddress,
          buffer.count)
      }
    }
    return result.isEmpty ? nil : result
  }

  private static func swift(_ name: [UInt8]) -> [UInt8]? {
    guard estimatedGrowth(name) <= maximumGrowth else { return nil }
    let result = unsafe (name + [0]).withUnsafeBytes { mangled in
      unsafe swift_demangle(
        mangled.baseAddress?.assumingMemoryBound(to: CChar.self), name.count, nil, nil, 0)
    }
    guard let result = unsafe result else { return nil }
    defer { unsafe free(result) }
    let length = unsafe strlen(result)
    guard length <= maximumOutput else { return nil }
    return unsafe Array(UnsafeRawBufferPointer(start: result, count: length))
  }
}

extension Demangler {
  /// 2^16: beyond it one name in a hundred of a large Swift program stays raw, and below it none takes 100 ms.
  private static let maximumGrowth = 16.0

  /// How much longer the readable name can get, as a power of two.
  ///
  /// Swift's demangler has no limit of its own: `A` repeats an earlier type (`ABc`: three of them; `A9b`: nine), and
  /// generic types (`G`), associated types (`Q`) and protocol lists (`p`) that hold repeats can be repeated in turn,
  /// so 200 bytes can stand for 2^30 types. Evenly spread over the levels, r repeats on l levels multiply the length
  /// by (1 + r/l)^l. Letters of identifiers count as well. It is an estimate; what it misses is left to the time
  /// limit of the process that demangles.
  private static func estimatedGrowth(_ name: [UInt8]) -> Double {
    var repeats = 0
    var levels = 0
    var isAfterA = false
    var number = 0
    for letter in name {
      if "GQp".utf8.contains(letter) { levels += 1 }
      switch letter {
      case UInt8(ascii: "A"):
        repeats += 1 + number
        (isAfterA, number) = (true, 0)
      case UInt8(ascii: "a")...UInt8(ascii: "z") where isAfterA:
        repeats += max(number, 1)
        number = 0
      case UInt8(ascii: "0")...UInt8(ascii: "9") where isAfterA:
        number = min(number * 10 + Int(letter - UInt8(ascii: "0")), maximumInput)
      default:
        repeats += number
        (isAfterA, number) = (false, 0)
      }
    }
    let depth = Double(max(1, min(levels, repeats)))
    return depth * log2(1 + Double(repeats) / depth)
  }
}
