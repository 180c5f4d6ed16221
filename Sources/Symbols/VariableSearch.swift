// Finds the variable of a name in a module's symbol tables: one that can be a counter, or what is wrong with it.

internal import CElfutils
internal import Glibc
internal import Linux
package import StallCore

/// Also static variables. A name is met by the symbol as it stands there, by what it is without a compiler's suffix, and
/// by how people read it, without the type that Swift puts behind it.
package struct VariableSearch {
  package struct Variable: Hashable, Sendable {
    package var name: ByteString
    /// In the module's own terms.
    package var address: UInt64
    /// 4 or 8 bytes.
    package var width: Int

    package init(name: ByteString, address: UInt64, width: Int) {
      (self.name, self.address, self.width) = (name, address, width)
    }
  }

  /// What met the name and can be no counter.
  package enum Unusable: Hashable, Sendable {
    case function
    case threadLocal
    case size(UInt64)

    /// Continues the name.
    package var text: String {
      switch self {
      case .function: "is a function; a variable that the loop counts up is meant"
      case .threadLocal: "is a thread-local variable, whose place is another for each thread"
      case .size(0): "has no size in the symbol table; MODULE+0xOFFSET says where it is"
      case .size(let size): "has \(size) bytes; a counter has 4 or 8"
      }
    }
  }

  package private(set) var variables: [Variable] = []
  package private(set) var unusable: Unusable?
  private var near: [(name: ByteString, edits: Int)] = []
  private let wanted: [UInt8]

  /// What a hostile table can make of a search; real modules have some thousand variables of these sizes.
  private static let mostNames = 300_000
  private static let mostVariables = 16
  private static let mostNear = 3
  private static let longestNear = 96
  private var examined = 0

  package init(for name: ByteString) { wanted = name.bytes }

  /// The most similar names that were met, nearest first.
  package var nearest: [ByteString] { near.map(\.name) }

  /// Searches a module that was opened from `path`; what cannot be read has no variables.
  package mutating func search(descriptor: Int32, path: ByteString, debugFiles: DebugFileSearch) {
    guard let file = try? ElfFile(descriptor: descriptor) else { return }
    if (try? search(file, SHT_SYMTAB)) ?? false { return }
    var found = debugFiles.find(forModule: descriptor, path: path)
    if let separate = found.file.take(),
      let file = try? ElfFile(descriptor: separate.rawValue), (try? search(file, SHT_SYMTAB)) ?? false
    {
      return
    }
    _ = try? search(file, SHT_DYNSYM)
  }

  /// False if there is no such table.
  private mutating func search(_ file: borrowing ElfFile, _ type: Int32) throws(SymbolFailure) -> Bool {
    guard let table = file.firstSection(ofType: type) else { return false }
    let link = file.sections[table].link
    guard file.sections[table].entrySize == UInt64(MemoryLayout<Elf64_Sym>.size),
      file.sections.indices.contains(link), file.sections[link].type == UInt32(SHT_STRTAB)
    else { throw .damaged }
    var strings: [UInt8] = []
    strings.reserveCapacity(Int(clamping: min(file.sections[link].size, ElfFile.maximumSectionBytes)))
    try file.readPieces(ofSection: link, unit: 1) { bytes in
      unsafe bytes.withUnsafeBytes { unsafe strings.append(contentsOf: $0) }
    }
    var found = self
    try file.readPieces(ofSection: table, unit: MemoryLayout<Elf64_Sym>.size) { bytes in
      for offset in stride(from: 0, to: bytes.byteCount, by: MemoryLayout<Elf64_Sym>.size) {
        found.take(unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: Elf64_Sym.self), strings)
      }
    }
    self = found
    return true
  }

  private mutating func take(_ symbol: Elf64_Sym, _ strings: [UInt8]) {
    let start = Int(symbol.st_name)
    let type = Int32(symbol.st_info & 0xF)
    guard start > 0, start < strings.count, symbol.st_shndx != UInt16(SHN_UNDEF),
      [STT_OBJECT, STT_NOTYPE, STT_FUNC, STT_GNU_IFUNC, STT_TLS].contains(type)
    else { return }
    let isCounter = type == STT_OBJECT && [4, 8].contains(symbol.st_size)
    if isCounter {
      guard examined < Self.mostNames else { return }
      examined += 1
      let name = Self.name(at: start, in: strings)
      let readable = SymbolName(raw: name)
      let spoken = Self.withoutType(readable.display)
      guard name.bytes == wanted || readable.base.bytes == wanted || spoken == wanted else {
        return noteNear(ByteString(spoken))
      }
      add(Variable(name: ByteString(spoken), address: symbol.st_value, width: Int(symbol.st_size)))
    } else if meets(stringAt: start, in: strings) {
      unusable = unusable ?? Self.unusable(type, symbol.st_size)
    }
  }

  private mutating func add(_ variable: Variable) {
    let isKnown = variables.contains { $0.address == variable.address }
    if !isKnown, variables.count < Self.mostVariables { variables.append(variable) }
  }

  private static func unusable(_ type: Int32, _ size: UInt64) -> Unusable {
    switch type {
    case STT_FUNC, STT_GNU_IFUNC: .function
    case STT_TLS: .threadLocal
    default: .size(size)
    }
  }

  /// Of the many that can be no counter only those with a mangled name that may hold the wanted one are taken apart.
  private mutating func meets(stringAt start: Int, in strings: [UInt8]) -> Bool {
    let end = start + wanted.count
    if end < strings.count, strings[end] == 0, strings[start..<end].elementsEqual(wanted) { return true }
    let isMangled = strings[start] == UInt8(ascii: "_") || strings[start] == UInt8(ascii: "$")
    guard isMangled, wanted.contains(UInt8(ascii: ":")) || wanted.contains(UInt8(ascii: ".")),
      examined < Self.mostNames
    else { return false }
    examined += 1
    return Self.withoutType(SymbolName(raw: Self.name(at: start, in: strings)).display) == wanted
  }

  private static func name(at start: Int, in strings: [UInt8]) -> ByteString {
    let rest = strings[start...].prefix(Demangler.maximumInput)
    return ByteString(rest.prefix { $0 != 0 })
  }

  /// "main.rounds : Swift.Int", and "static" before what belongs to a type.
  private static func withoutType(_ name: ByteString) -> [UInt8] {
    var bytes = name.bytes[...]
    let separator = Array(" : ".utf8)
    if let index = bytes.indices.first(where: { bytes[$0...].starts(with: separator) }) {
      bytes = bytes[..<index]
    }
    if bytes.starts(with: "static ".utf8) { bytes = bytes.dropFirst(7) }
    return Array(bytes)
  }

  /// Names that hold the wanted one are near; else the fewest edits count.
  private mutating func noteNear(_ name: ByteString) {
    guard name.bytes.count <= Self.longestNear, wanted.count <= Self.longestNear else { return }
    let most = max(1, wanted.count / 3)
    let difference = abs(name.bytes.count - wanted.count)
    let holds = wanted.count > 2 && name.bytes.holds(wanted)
    guard holds || difference <= most else { return }
    let edits = holds ? min(1, difference) : editDistance(name.bytes, wanted)
    guard edits <= most, near.count < Self.mostNear || edits < near[near.count - 1].edits,
      !near.contains(where: { $0.name == name })
    else { return }
    near.insert((name, edits), at: near.firstIndex { edits < $0.edits } ?? near.count)
    if near.count > Self.mostNear { near.removeLast() }
  }
}

extension [UInt8] {
  fileprivate func holds(_ part: [UInt8]) -> Bool {
    guard count >= part.count else { return false }
    return (0...(count - part.count)).contains { self[$0...].starts(with: part) }
  }
}
