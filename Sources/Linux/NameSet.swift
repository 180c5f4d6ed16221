// A few names that are looked for among very many.

/// Nearly every other name differs from all of them in its first eight bytes: these are compared first, as one word.
package struct NameSet: Sendable {
  private struct Name: Sendable {
    let beginning: UInt64
    /// Zeros where it is shorter.
    let mask: UInt64
    /// With the zero that ends it.
    let bytes: [UInt8]
  }

  private let names: [Name]

  package init(_ names: some Sequence<[UInt8]>) {
    self.names = Set(names).map { name in
      let bytes = name + [0]
      let count = min(8, bytes.count)
      return Name(
        beginning: bytes.littleEndian(at: 0, count: count), mask: .max >> UInt64(64 - 8 * count), bytes: bytes
      )
    }
  }

  /// Whether one of them stands at this place of a table that ends at `end`, with a zero behind each name.
  package func contains(nameAt place: Int, in table: borrowing KernelBytes, end: Int) -> Bool {
    let isShort = end - place < 8
    let beginning = isShort ? 0 : table.load(at: place, as: UInt64.self)
    for name in names where isShort || beginning & name.mask == name.beginning {
      if table.matches(name.bytes, at: place, end: end) { return true }
    }
    return false
  }
}

extension KernelBytes {
  fileprivate func matches(_ name: [UInt8], at place: Int, end: Int) -> Bool {
    guard end - place >= name.count else { return false }
    for index in name.indices where load(at: place + index, as: UInt8.self) != name[index] { return false }
    return true
  }
}
