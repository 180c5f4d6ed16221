// One symbol of an ELF file, found by its exact name.

internal import Glibc

extension ElfImage {
  /// More than this is no table of names, or not worth the time.
  private static let mostTableBytes = 64 << 20

  /// In the file's own terms. Names that other files can use come first, then those of the file alone.
  package func address(ofSymbol name: String) -> UInt64? {
    address(of: name, in: ".dynsym", ".dynstr") ?? address(of: name, in: ".symtab", ".strtab")
  }

  private func address(of name: String, in symbolSection: String, _ nameSection: String) -> UInt64? {
    guard let names = contents(ofSection: nameSection, limit: Self.mostTableBytes),
      let symbols = contents(ofSection: symbolSection, limit: Self.mostTableBytes)
    else { return nil }
    let name = Array(name.utf8) + [0]
    return unsafe names.withUnsafeBytes { names in
      unsafe symbols.withUnsafeBytes { symbols in unsafe Self.value(of: name, names, symbols) }
    }
  }

  /// `Elf64_Sym`, 24 bytes: name, type and binding, visibility, section, value, size. One without a section is defined
  /// elsewhere.
  private static func value(
    of name: [UInt8], _ names: UnsafeRawBufferPointer, _ symbols: UnsafeRawBufferPointer
  ) -> UInt64? {
    for start in stride(from: 0, to: symbols.count - 23, by: 24) {
      let offset = unsafe Int(symbols.loadUnaligned(fromByteOffset: start, as: UInt32.self))
      guard offset <= names.count - name.count,
        unsafe memcmp(names.baseAddress! + offset, name, name.count) == 0,
        unsafe symbols.loadUnaligned(fromByteOffset: start + 6, as: UInt16.self) != 0
      else { continue }
      return unsafe symbols.loadUnaligned(fromByteOffset: start + 8, as: UInt64.self)
    }
    return nil
  }
}
