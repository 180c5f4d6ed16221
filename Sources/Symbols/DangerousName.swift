// Mangled names that their demanglers do not survive, or hardly end on.

/// Told by groups of letters alone: what else may stand before and after them cannot be told without being a demangler.
/// Names that hold one stay raw. All of these were found by demangling damaged names, 55 million of Swift and 20
/// million of Rust.
struct DangerousName {
  private let name: [UInt8]

  init(_ name: [UInt8]) { self.name = name }

  /// A marker of a generic pack or value (`Rv`, `RV`) outside a generic signature makes Swift's demangler abort, a
  /// freestanding macro's expansion (`fMf`, `fMu`) with a private name and nothing around it makes it use a null pointer.
  /// Of the 48,537 names that the libraries of the toolchain export, two hold one in earnest.
  var endsSwiftDemangler: Bool { holds("Rv") || holds("RV") || holds("fMf") || holds("fMu") }

  /// A function's or trait object's list of lifetimes (`FG`, `DG`, and their number in base 62) is gone through one by
  /// one, also where nothing is written. From four digits on that takes longer than anyone waits.
  var holdsRustDemangler: Bool {
    name.indices.dropLast(2).contains { start in
      guard name[start] == UInt8(ascii: "F") || name[start] == UInt8(ascii: "D"),
        name[start + 1] == UInt8(ascii: "G")
      else { return false }
      let digits = name[(start + 2)...].prefix { Self.isDigit($0) }
      return digits.count >= 4 && digits.endIndex < name.endIndex
        && name[digits.endIndex] == UInt8(ascii: "_")
    }
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "A")...UInt8(ascii: "Z"):
      true
    default: false
    }
  }

  private func holds(_ letters: String) -> Bool {
    name.indices.contains { name[$0...].starts(with: letters.utf8) }
  }
}
