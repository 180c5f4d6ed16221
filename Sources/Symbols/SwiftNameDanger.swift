// Swift names that the Swift runtime's demangler does not survive.

extension Demangler {
  /// Found by feeding it 55 million damaged names: a marker of a generic pack or value (`Rv`, `RV`) that does not stand in a
  /// generic signature makes it abort, a freestanding macro's expansion (`fMf`, `fMu`) with a private name and nothing
  /// around it makes it use a null pointer. What else could precede them cannot be told without being a demangler, so
  /// such names stay raw: of the 48,537 that the libraries of the toolchain export, two.
  static func endsItsDemangler(_ swiftName: [UInt8]) -> Bool {
    swiftName.indices.contains { start in
      let rest = swiftName[start...]
      return rest.starts(with: "Rv".utf8) || rest.starts(with: "RV".utf8) || rest.starts(with: "fMf".utf8)
        || rest.starts(with: "fMu".utf8)
    }
  }
}
