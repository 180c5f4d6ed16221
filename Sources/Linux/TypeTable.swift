// The types that the kernel describes, or a BPF program for it: BTF, the BPF Type Format (Documentation/bpf/btf.rst).

/// A kernel has more than 100,000 types. One pass notes where each lies; everything else is looked up when it is asked for.
/// The bytes are the kernel's own or our own, and all the same nothing beyond them is read.
package struct TypeTable: ~Copyable {
  /// `BTF_KIND_…` (<linux/btf.h>).
  package enum Kind: UInt32, Sendable {
    case integer = 1
    case pointer, array, structure, union, enumeration, forward, typedef, volatile, const, restrict, function
    case functionPrototype, variable, section, float, declarationTag, typeTag, wideEnumeration
  }

  /// `struct btf_type`: its name, and the word whose meaning depends on the kind, a size or another type.
  package struct Entry: Sendable {
    package let kind: Kind
    package let name: UInt32
    package let information: UInt32
    package let sizeOrType: UInt32
    /// Where what follows is: members, the element of an array.
    fileprivate let details: Int
    fileprivate let count: Int
  }

  /// `struct btf_member`; `offset` as it stands there, with the size of a bit field in it.
  package struct Member: Sendable {
    package let name: UInt32
    package let type: UInt32
    package let offset: UInt32
  }

  private let bytes: KernelBytes
  private let index: TypeIndex

  /// Nil if they are none, or of a kind that is not known: then where the next one begins is not known either.
  package init?(_ bytes: consuming KernelBytes) {
    guard let index = TypeIndex(bytes) else { return nil }
    self.index = index
    self.bytes = bytes
  }

  package var structures: [UInt32] { index.structures }
  package var functions: [UInt32] { index.functions }

  /// Nil for `void`, and for what is none.
  package func entry(_ type: UInt32) -> Entry? {
    type == 0 || type >= index.places.count ? nil : Entry(bytes, at: Int(index.places[Int(type)]))
  }

  /// Of a structure or union.
  package func members(of entry: Entry) -> [Member] {
    (0..<entry.count).map { index in
      let place = entry.details + 12 * index
      return Member(
        name: bytes.load(at: place, as: UInt32.self), type: bytes.load(at: place + 4, as: UInt32.self),
        offset: bytes.load(at: place + 8, as: UInt32.self))
    }
  }

  /// The word behind the entry of an integer, the three behind that of an array.
  package func detail(_ index: Int, of entry: Entry) -> UInt32 {
    bytes.load(at: entry.details + 4 * index, as: UInt32.self)
  }

  /// Those of them that have one of these names.
  package func named(_ wanted: NameSet, among types: [UInt32]) -> [UInt32] {
    types.filter { isNamed(wanted, bytes.load(at: Int(index.places[Int($0)]), as: UInt32.self)) }
  }

  package func isNamed(_ wanted: NameSet, _ name: UInt32) -> Bool {
    wanted.contains(nameAt: index.names.lowerBound + Int(name), in: bytes, end: index.names.upperBound)
  }

  /// Without its end.
  package func name(at offset: UInt32) -> [UInt8] {
    var name: [UInt8] = []
    var place = index.names.lowerBound + Int(offset)
    while place < index.names.upperBound {
      let byte = bytes.load(at: place, as: UInt8.self)
      if byte == 0 { break }
      name.append(byte)
      place += 1
    }
    return name
  }
}

/// What one pass over the bytes finds.
private struct TypeIndex {
  let names: Range<Int>
  /// Where each type begins. The first one, `void`, is nowhere.
  private(set) var places: [UInt32] = [0]
  private(set) var structures: [UInt32] = []
  private(set) var functions: [UInt32] = []

  init?(_ bytes: borrowing KernelBytes) {
    // Layout: `struct btf_header`.
    guard bytes.count >= 24, bytes.load(at: 0, as: UInt16.self) == 0xEB9F,
      let types = Self.part(8, of: bytes), let names = Self.part(16, of: bytes)
    else { return nil }
    self.names = names
    places.reserveCapacity(types.count / 16)
    var place = types.lowerBound
    while place < types.upperBound {
      guard types.upperBound - place >= 12, let entry = TypeTable.Entry(bytes, at: place) else { return nil }
      let number = UInt32(truncatingIfNeeded: places.count)
      if entry.kind == .structure { structures.append(number) }
      if entry.kind == .function { functions.append(number) }
      places.append(UInt32(truncatingIfNeeded: place))
      place = entry.details + entry.kind.detailBytes(count: entry.count)
    }
    if place != types.upperBound { return nil }
  }

  /// Its offset behind the header, and its size.
  private static func part(_ position: Int, of bytes: borrowing KernelBytes) -> Range<Int>? {
    let start = Int(bytes.load(at: 4, as: UInt32.self)) + Int(bytes.load(at: position, as: UInt32.self))
    let end = start + Int(bytes.load(at: position + 4, as: UInt32.self))
    return end <= bytes.count ? start..<end : nil
  }
}

extension TypeTable.Entry {
  fileprivate init?(_ bytes: borrowing KernelBytes, at place: Int) {
    information = bytes.load(at: place + 4, as: UInt32.self)
    // The other bits have no meaning yet.
    guard information & 0x60FF_0000 == 0, let kind = TypeTable.Kind(rawValue: information >> 24 & 0x1F) else {
      return nil
    }
    self.kind = kind
    name = bytes.load(at: place, as: UInt32.self)
    sizeOrType = bytes.load(at: place + 8, as: UInt32.self)
    details = place + 12
    count = Int(information & 0xFFFF)
  }
}

extension TypeTable.Kind {
  /// Of what follows an entry of so many parts.
  fileprivate func detailBytes(count: Int) -> Int {
    switch self {
    case .integer, .variable, .declarationTag: 4
    case .array: 12
    case .structure, .union, .section, .wideEnumeration: 12 * count
    case .enumeration, .functionPrototype: 8 * count
    case .pointer, .forward, .typedef, .volatile, .const, .restrict, .function, .float, .typeTag: 0
    }
  }
}
