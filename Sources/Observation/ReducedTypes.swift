// The few of the kernel's types that a BPF program speaks of, as a table of their own.

package import Linux

/// libbpf goes through all types of the table that it is given, once for each name that the program has; with this one that
/// is nothing.
///
/// A structure that the program names is here with those of its members whose names the program has anywhere. Of other
/// structures only name and size are left, and of pointers that they are some: what libbpf looks up begins at a structure
/// with a name and ends at the first pointer.
package struct ReducedTypes {
  private let structures: NameSet
  private let members: NameSet
  /// What the kernel's types are called here.
  private var numbers: [UInt32: UInt32] = [:]
  private var types: [UInt32] = []
  private var names: [UInt8] = [0]
  private var count: UInt32 = 0

  /// Of types within each other, the kernel's have no more than ten.
  private static let mostDepth = 32

  package init(of kernel: borrowing TypeTable, for program: borrowing TypeTable) {
    var (structures, members): ([[UInt8]], [[UInt8]]) = ([], [])
    for type in program.structures {
      guard let entry = program.entry(type) else { continue }
      structures.append(Self.withoutFlavour(program.name(at: entry.name)))
      members += program.members(of: entry).map { program.name(at: $0.name) }
    }
    self.structures = NameSet(structures.filter { !$0.isEmpty })
    self.members = NameSet(members.filter { !$0.isEmpty })
    for type in kernel.named(self.structures, among: kernel.structures) { _ = take(type, of: kernel) }
  }

  /// What stands behind three underscores says which of several shapes the program means, and is no part of the name.
  private static func withoutFlavour(_ name: [UInt8]) -> [UInt8] {
    let end = name.indices.first { name[$0...].starts(with: [0x5F, 0x5F, 0x5F]) }
    return Array(name[..<(end ?? name.count)])
  }

  /// The table (`struct btf_header`, then types, then names).
  package var bytes: [UInt8] {
    let typeBytes = UInt32(4 * types.count)
    let header = [0x0001_EB9F, 24, 0, typeBytes, typeBytes, UInt32(names.count)]
    return unsafe (header + types).withUnsafeBytes { unsafe Array($0) } + names
  }

  /// What the kernel's type is called here; 0 (`void`) for one of which nothing is looked up.
  private mutating func take(_ type: UInt32, of kernel: borrowing TypeTable, depth: Int = 0) -> UInt32 {
    if let number = numbers[type] { return number }
    guard depth < Self.mostDepth, let entry = kernel.entry(type) else { return 0 }
    // Until more is known. No type holds itself, and one that seems to ends here.
    numbers[type] = 0
    let number: UInt32
    switch entry.kind {
    case .typedef, .const, .volatile, .restrict, .typeTag:
      number = take(entry.sizeOrType, of: kernel, depth: depth + 1)
    case .integer: number = add(entry, of: kernel, details: [kernel.detail(0, of: entry)])
    case .pointer: number = add(entry, of: kernel, target: 0)
    case .array:
      let element = take(kernel.detail(0, of: entry), of: kernel, depth: depth + 1)
      let index = take(kernel.detail(1, of: entry), of: kernel, depth: depth + 1)
      number = add(entry, of: kernel, details: [element, index, kernel.detail(2, of: entry)])
    case .structure, .union: number = takeStructure(entry, of: kernel, depth: depth)
    case .enumeration, .wideEnumeration: number = add(entry, of: kernel)
    default: number = 0
    }
    numbers[type] = number
    return number
  }

  private mutating func takeStructure(
    _ entry: TypeTable.Entry, of kernel: borrowing TypeTable, depth: Int
  ) -> UInt32 {
    guard entry.name == 0 || kernel.isNamed(structures, entry.name) else { return add(entry, of: kernel) }
    var details: [UInt32] = []
    for member in kernel.members(of: entry)
    where member.name == 0 || kernel.isNamed(members, member.name) {
      let type = take(member.type, of: kernel, depth: depth + 1)
      details += [add(name: kernel.name(at: member.name)), type, member.offset]
    }
    return add(entry, of: kernel, parts: details.count / 3, details: details)
  }

  private mutating func add(
    _ entry: TypeTable.Entry, of kernel: borrowing TypeTable, target: UInt32? = nil, parts: Int = 0,
    details: [UInt32] = []
  ) -> UInt32 {
    // `struct btf_type`: kind and kind_flag stay, the number of parts is another one.
    let information = entry.information & 0xFF00_0000 | UInt32(parts)
    types += [add(name: kernel.name(at: entry.name)), information, target ?? entry.sizeOrType] + details
    count += 1
    return count
  }

  private mutating func add(name: [UInt8]) -> UInt32 {
    if name.isEmpty { return 0 }
    defer { names += name + [0] }
    return UInt32(names.count)
  }
}
