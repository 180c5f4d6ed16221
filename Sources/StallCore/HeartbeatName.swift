// Which variable of the target counts the rounds of its loop, as a person says it.

/// A variable's name, with the module that it is in where that is said, or a place in a module.
package struct HeartbeatName: Sendable, Hashable {
  package enum Place: Sendable, Hashable {
    /// As the symbol table has it, or as people read it.
    case symbol(ByteString)
    /// The address that nm(1) prints.
    case offset(UInt64)
  }

  /// The path of the module's file, or the end of it after a slash; nil: any.
  package let module: ByteString?
  package let place: Place
  /// As it was written.
  package let text: ByteString

  /// `SYMBOL`, `MODULE:SYMBOL` or `MODULE+0xOFFSET`; nil for nothing of these.
  package init?(_ text: ByteString) {
    self.text = text
    let bytes = text.bytes
    if bytes.isEmpty || bytes.count > Self.mostBytes || bytes.contains(0) { return nil }
    if let plus = bytes.lastIndex(of: UInt8(ascii: "+")), plus > 0,
      let offset = Self.offset(bytes[(plus + 1)...])
    {
      (module, place) = (ByteString(bytes[..<plus]), .offset(offset))
      return
    }
    let colon = Self.loneColon(in: bytes)
    let name = colon.map { bytes[($0 + 1)...] } ?? bytes[...]
    if name.isEmpty || colon == 0 { return nil }
    module = colon.map { ByteString(bytes[..<$0]) }
    place = .symbol(ByteString(name))
  }

  package static let mostBytes = 1024

  private static func offset(_ text: ArraySlice<UInt8>) -> UInt64? {
    guard text.starts(with: "0x".utf8), text.count > 2 else { return nil }
    return UInt64(String(decoding: text.dropFirst(2), as: UTF8.self), radix: 16)
  }

  /// Names of C++ and Rust have two together; a type of Swift stands behind a blank.
  private static func loneColon(in bytes: [UInt8]) -> Int? {
    let colon = UInt8(ascii: ":")
    for index in bytes.indices where bytes[index] == colon {
      let isDoubled =
        index > 0 && bytes[index - 1] == colon || index + 1 < bytes.count && bytes[index + 1] == colon
      if !isDoubled { return bytes[..<index].contains(UInt8(ascii: " ")) ? nil : index }
    }
    return nil
  }

  /// Whether the file of this path is the module that was named.
  package func means(moduleAt path: ByteString) -> Bool {
    guard let module else { return true }
    if path == module { return true }
    return path.bytes.count > module.bytes.count
      && path.bytes.suffix(module.bytes.count + 1).elementsEqual([UInt8(ascii: "/")] + module.bytes)
  }
}

/// What the search for a heartbeat came to.
package enum HeartbeatFinding: Sendable, Equatable {
  /// `width` in bytes: 4 or 8. `place` is how it can be named so that nothing else is meant.
  case found(address: UInt64, width: Int, place: ByteString)
  /// Each as it can be named.
  case several([ByteString])
  /// There is something of that name that can be no counter; `why` continues "NAME ".
  case unusable(why: String)
  /// With names that are near.
  case unknown(nearest: [ByteString])
  case noModule(modules: [ByteString])
  /// The search itself failed; `why` is a clause.
  case failed(why: String)
}
