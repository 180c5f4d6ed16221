// The sorted table of a module's rules that its linker made, and what is found in it.

internal import Linux

/// Where a rule lies in memory, and the table of one entry that leads libunwind there.
package struct FoundRule {
  package let base: UInt64
  package let address: UInt64
  /// What lies at `RuleTable.madeAddress`.
  let made: [UInt8]

  init(base: UInt64, address: UInt64, made: [UInt8]) {
    (self.base, self.address, self.made) = (base, address, made)
  }

  /// Nil unless the rule lies within 2 GB of its function, as in every module: libunwind would read it elsewhere than it was
  /// checked.
  package init?(for firstAddress: UInt64, at address: UInt64) {
    let distance = address &- firstAddress
    guard Int32(exactly: Int64(bitPattern: distance)) != nil else { return nil }
    self.init(base: firstAddress, address: address, made: DebugRule.bytes(of: distance << 32))
  }
}

/// `.eh_frame_hdr`. Layout: Linux Standard Base core 5.0, section 10.6.2. Only the encodings that linkers write are
/// understood: version 1, a 32-bit relative pointer (DW_EH_PE_pcrel or datarel | sdata4), a 32-bit count, and pairs of
/// 32-bit distances from the header: to a function's first address, and to its rule.
struct RuleHeader {
  private let base: UInt64
  private let entries: UInt64
  private let count: UInt64

  init?(_ segment: ElfImage.Segment, in image: ElfImage, loadBias: UInt64) {
    guard let header = image.pages.bytes(at: segment.fileOffset, count: 12),
      header[0] == 1, header[1] == 0x1B || header[1] == 0x3B, header[2] == 0x03, header[3] == 0x3B
    else { return nil }
    base = segment.virtualAddress &+ loadBias
    entries = base &+ 12
    count = header.littleEndian(at: 8, count: 4)
    guard count > 0, segment.fileSize >= 12, count <= (segment.fileSize - 12) / 8 else { return nil }
  }

  /// The last one that begins at or before the address; it need not reach that far. `word` reads eight bytes at a multiple
  /// of eight.
  func rule(for pc: UInt64, _ word: (UInt64) -> UInt64?) -> FoundRule? {
    guard let wanted = Int32(exactly: Int64(bitPattern: pc &- base)) else { return nil }
    var low: UInt64 = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      guard let first = distance(at: entries &+ 8 * middle, word) else { return nil }
      if first <= wanted { low = middle + 1 } else { high = middle }
    }
    guard low > 0, let first = distance(at: entries &+ 8 * (low - 1), word),
      let rule = distance(at: entries &+ 8 * (low - 1) &+ 4, word)
    else { return nil }
    return FoundRule(for: target(first), at: target(rule))
  }

  private func target(_ distance: Int32) -> UInt64 { base &+ UInt64(bitPattern: Int64(distance)) }

  /// Headers begin at a multiple of four.
  private func distance(at address: UInt64, _ word: (UInt64) -> UInt64?) -> Int32? {
    guard address & 3 == 0 else { return nil }
    return word(address & ~7).map { Int32(truncatingIfNeeded: $0 >> (8 * (address & 7))) }
  }
}
