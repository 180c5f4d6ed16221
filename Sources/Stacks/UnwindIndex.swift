// A sorted table of unwind rules, made for modules that bring none: statically linked programs have only the rules, and
// some have them only for debuggers.

internal import Linux

/// Where each rule (FDE) of a section begins, by the first address that it is for. Addresses are the file's own.
struct UnwindIndex {
  enum Kind {
    /// `.eh_frame`. Layout: Linux Standard Base core 5.0, section 10.6.1; pointer encodings: section 10.5.
    case loaded
    /// `.debug_frame`, which no process has in memory. Layout: DWARF 5, section 6.4.1.
    case debug
  }

  private struct Entry {
    var firstAddress: UInt64
    /// Counted from the section's beginning.
    var rule: Int
  }

  /// The section's address in memory, if it has one.
  let address: UInt64
  /// The section itself, where no process has it in memory.
  let contents: [UInt8]
  private let entries: [Entry]
  /// A program of 100 MB has about 8 MB of rules.
  private static let sizeLimit = 32 << 20

  init?(_ image: ElfImage, _ kind: Kind) {
    let name = kind == .loaded ? ".eh_frame" : ".debug_frame"
    guard let bytes = image.contents(ofSection: name, limit: UnwindIndex.sizeLimit) else { return nil }
    address = image.section(named: name)?.virtualAddress ?? 0
    contents = kind == .debug ? bytes : []
    entries = UnwindIndex.rules(bytes, kind, at: address).sorted { $0.firstAddress < $1.firstAddress }
  }

  /// The last rule that begins at or before the address; it need not reach that far. Its place is counted from the
  /// section's beginning.
  func rule(before address: UInt64) -> (firstAddress: UInt64, rule: Int)? {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].firstAddress <= address { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? nil : (entries[low - 1].firstAddress, entries[low - 1].rule)
  }

  /// Goes through the entries: each a 32-bit length and a 32-bit distance back to its CIE, or 0 if it is a CIE; in
  /// `.debug_frame` the CIE's place, or all ones. A length of 0 ends them; the 64-bit format, which no linker writes
  /// here, ends them too.
  private static func rules(_ bytes: [UInt8], _ kind: Kind, at address: UInt64) -> [Entry] {
    var entries: [Entry] = []
    var encodings: [Int: UInt8] = [:]
    var position = 0
    while position + 8 <= bytes.count {
      let length = Int(bytes.littleEndian(at: position, count: 4))
      let link = Int(bytes.littleEndian(at: position + 4, count: 4))
      guard length >= 4, length < 0xFFFF_FFF0, position + 4 + length <= bytes.count else { break }
      let body = bytes[(position + 8)..<(position + 4 + length)]
      if link == (kind == .loaded ? 0 : 0xFFFF_FFFF) {
        encodings[position] = pointerEncoding(body)
      } else if let encoding = encodings[kind == .loaded ? position + 4 - link : link],
        let first = pointer(body, encoding, at: address &+ UInt64(position + 8))
      {
        entries.append(Entry(firstAddress: first, rule: position))
      }
      position += 4 + length
    }
    return entries
  }

  /// How a CIE's rules write their first address: what stands for `R` in its augmentation, absolute without one. Nil
  /// if that cannot be told.
  private static func pointerEncoding(_ cie: ArraySlice<UInt8>) -> UInt8? {
    guard let version = cie.first, let end = cie.dropFirst().firstIndex(of: 0) else { return nil }
    let augmentation = cie[(cie.startIndex + 1)..<end]
    // Sizes of addresses and segments in version 4, the alignment factors, the return address's column.
    var rest = cie[(end + 1)...].dropFirst(version == 4 ? 2 : 0)
    skipNumbers(3, &rest)
    guard augmentation.first == UInt8(ascii: "z") else { return augmentation.isEmpty ? 0 : nil }
    // The augmentation's length.
    skipNumbers(1, &rest)
    for letter in augmentation.dropFirst() {
      guard let value = rest.first else { return nil }
      switch letter {
      case UInt8(ascii: "R"): return value
      case UInt8(ascii: "L"): rest = rest.dropFirst()
      case UInt8(ascii: "P"):
        guard let size = pointerSize(value) else { return nil }
        rest = rest.dropFirst(1 + size)
      case UInt8(ascii: "S"), UInt8(ascii: "B"): break
      default: return nil
      }
    }
    return 0
  }

  /// LEB128 numbers end with a byte whose top bit is clear.
  private static func skipNumbers(_ count: Int, _ rest: inout ArraySlice<UInt8>) {
    for _ in 0..<count { rest = rest.drop { $0 & 0x80 != 0 }.dropFirst() }
  }

  /// DW_EH_PE_absptr, udata4, udata8, sdata4, sdata8.
  private static func pointerSize(_ encoding: UInt8) -> Int? {
    switch encoding & 0x0F {
    case 0x00, 0x04, 0x0C: 8
    case 0x03, 0x0B: 4
    default: nil
    }
  }

  /// Absolute, or counted from its own address (DW_EH_PE_pcrel).
  private static func pointer(_ bytes: ArraySlice<UInt8>, _ encoding: UInt8, at address: UInt64) -> UInt64? {
    guard let size = pointerSize(encoding), bytes.count >= size,
      encoding & 0xF0 == 0 || encoding & 0xF0 == 0x10
    else { return nil }
    var value = bytes.prefix(size).reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
    if encoding & 0x0F == 0x0B { value = UInt64(bitPattern: Int64(Int32(truncatingIfNeeded: value))) }
    return encoding & 0x10 == 0 ? value : address &+ value
  }
}
