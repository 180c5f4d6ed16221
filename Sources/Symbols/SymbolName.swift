// A raw symbol name taken apart: what a compiler mangled, what it appended, and the version a linker added.

package import StallCore

package struct SymbolName: Hashable, Sendable {
  /// What a demangler understands.
  package var base: ByteString
  /// `.cold`, `.constprop.0`, `.llvm.123`: which copy or part of the function this is; empty for most.
  package var suffix: ByteString
  /// `@plt` if this is the jump to the function and not the function.
  package var isProcedureLinkage: Bool

  package init(raw: ByteString) {
    var rest = raw.bytes[...]
    isProcedureLinkage = rest.hasSuffix("@plt")
    // `@VERSION` or `@@VERSION`, appended by the linker to names of the full table.
    if let at = rest.firstIndex(of: UInt8(ascii: "@")), at > rest.startIndex { rest = rest[..<at] }
    var end = rest.endIndex
    while let start = Self.suffixStart(in: rest[..<end]) { end = start }
    base = ByteString(rest[..<end])
    suffix = ByteString(rest[end...])
  }

  /// The name for people: the function's, demangled if its scheme is known, with a compiler's suffix in brackets. A
  /// bare number is part of a name that is not mangled.
  package var display: ByteString {
    let demangled = Demangler.demangle(base)
    let isPartOfName = demangled == nil && !suffix.bytes.contains { $0 > UInt8(ascii: "9") }
    var bytes = (demangled ?? base).bytes
    if isPartOfName {
      bytes += suffix.bytes
    } else if !suffix.bytes.isEmpty {
      bytes += Array(" [".utf8) + suffix.bytes + Array("]".utf8)
    }
    if isProcedureLinkage { bytes += Array("@plt".utf8) }
    return ByteString(bytes)
  }

  /// The words GCC and LLVM append for clones, split parts, local copies and coroutine pieces; a number may follow.
  private static let words: Set<[UInt8]> = Set(
    [
      "cold", "part", "constprop", "isra", "llvm", "lto_priv", "localalias", "clone", "resume", "destroy",
      "cleanup",
      "actor", "warm", "hot", "unlikely", "specialized", "__uniq", "str", "memprof",
    ].map { Array($0.utf8) })

  /// Where the last `.word`, `.word.N` or `.N` begins. Rust's older names hold dots too, but end in `E`.
  private static func suffixStart(in name: ArraySlice<UInt8>) -> Int? {
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else { return nil }
    let tail = name[(dot + 1)...]
    if words.contains(Array(tail)) { return dot }
    let isNumber = !tail.isEmpty && tail.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    return isNumber ? dot : nil
  }
}

extension ArraySlice<UInt8> {
  fileprivate func hasSuffix(_ text: StaticString) -> Bool {
    count > text.utf8CodeUnitCount && suffix(text.utf8CodeUnitCount).elementsEqual("\(text)".utf8)
  }
}
