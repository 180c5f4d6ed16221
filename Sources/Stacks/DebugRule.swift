// One rule of a `.debug_frame` section, rewritten as a section for running programs would have it.

internal import Linux

/// The two kinds of sections differ in how a rule (FDE) finds what it has in common with others (CIE), and in the
/// addresses, which are not moved with the module here. Layouts: DWARF 5, section 6.4.1; Linux Standard Base core 5.0,
/// section 10.6.1.
struct DebugRule {
  /// A table entry that leads to the rule and is good for every address, the CIE, the rule, and zeros up to a whole
  /// number of words.
  let bytes: [UInt8]
  /// Of the rule in them.
  let place: Int

  /// Real rules have some hundred bytes.
  private static let mostBytes = 65_536

  init?(at offset: Int, of section: [UInt8], loadBias: UInt64) {
    func entry(at offset: Int) -> (link: Int, body: [UInt8])? {
      guard offset <= section.count - 8 else { return nil }
      let end = offset + 4 + Int(section.littleEndian(at: offset, count: 4))
      guard offset + 8...offset + DebugRule.mostBytes ~= end, end <= section.count else { return nil }
      return (Int(section.littleEndian(at: offset + 4, count: 4)), Array(section[(offset + 8)..<end]))
    }
    guard let rule = entry(at: offset), rule.body.count >= 16, let common = entry(at: rule.link),
      common.link == 0xFFFF_FFFF, let cie = DebugRule.loadedForm(common.body)
    else { return nil }
    let firstAddress = rule.body.littleEndian(at: 0, count: 8) &+ loadBias
    var bytes = DebugRule.bytes(of: UInt64(16 + cie.count) << 32 | 0x8000_0000)
    bytes += DebugRule.bytes(of: UInt64(cie.count + 4)) + cie
    place = bytes.count
    // The distance from its own place, behind the length, back to the CIE, which follows the table entry.
    bytes += DebugRule.bytes(of: UInt64(bytes.count - 4) << 32 | UInt64(rule.body.count + 4))
    bytes += DebugRule.bytes(of: firstAddress) + rule.body.dropFirst(8)
    bytes += [UInt8](repeating: 0, count: -bytes.count & 7)
    self.bytes = bytes
  }

  /// Version 4 has two bytes more, the sizes of addresses and segment selectors, behind the augmentation string, which
  /// is empty.
  private static func loadedForm(_ cie: [UInt8]) -> [UInt8]? {
    guard cie.count >= 4, cie[1] == 0 else { return nil }
    switch cie[0] {
    case 1, 3: return cie
    case 4: return cie[2] == 8 && cie[3] == 0 ? [3, 0] + cie[4...] : nil
    default: return nil
    }
  }

  static func bytes(of word: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64($0 * 8)) }
  }
}
