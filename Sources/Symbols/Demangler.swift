// Mangled names made readable: Swift, C++ and both Rust schemes, chosen by prefix.

internal import CDemangle
internal import Glibc
package import StallCore

/// Names come from files that nobody vouches for, so input and output are limited; what exceeds them stays raw.
package enum Demangler {
  package static let maximumInput = 4096
  package static let maximumOutput = 16_384
  /// Names of Swift that may grow by more than 2^16 stay raw; no name below it was seen to take 100 ms.
  private static let maximumGrowth = 16.0

  private enum Scheme {
    case swift, cpp, rust
  }

  /// The readable name, or nil if the name is of no known scheme, malformed, or beyond the limits.
  package static func demangle(_ mangled: ByteString) -> ByteString? {
    let name = mangled.bytes
    guard name.count <= maximumInput, !name.contains(0), let scheme = scheme(of: name) else { return nil }
    let result: [UInt8]? =
      switch scheme {
      case .swift: DangerousName(name).endsSwiftDemangler ? nil : swift(name)
      case .cpp: bounded(name, isRust: false)
      case .rust: DangerousName(name).holdsRustDemangler ? nil : bounded(name, isRust: true)
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
    guard SwiftNameGrowth(of: name).exponent <= maximumGrowth else { return nil }
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
