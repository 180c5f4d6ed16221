// Which unwind rules libunwind is handed.

import Linux
import Stacks
import Testing

/// A CIE as gcc writes it, and a rule behind it, at `place`.
private struct Section {
  private static let place: UInt64 = 0x7000_0000_0000
  var version: UInt8 = 1
  var augmentation = "zR"
  var augmentationData: [UInt8] = [0x1B]
  var returnColumn: UInt8 = 16
  var instructions: [UInt8] = [0x41, 0x0E, 0x10, 0x86, 0x02]
  /// Added to the distance back to the CIE.
  var linkError: UInt32 = 0
  var wordsMissing = 0

  var isAccepted: Bool {
    var common: [UInt8] = [0, 0, 0, 0, version] + augmentation.utf8 + [0, 1, 0x78, returnColumn]
    if augmentation.hasPrefix("z") { common += [UInt8(augmentationData.count)] + augmentationData }
    let cie = Self.entry(common + [0x0C, 7, 8, 0x90, 1])
    let link = UInt32(cie.count + 4) &+ linkError
    let rule = Self.entry(Self.bytes(link) + [0, 0, 0, 0, 0x20, 0, 0, 0, 0] + instructions)
    let section = cie + rule
    var check = RuleCheck { address in
      // The same again at every 2 GB: a distance of another sign meets a good CIE.
      let offset = Int((address &- Self.place) % (1 << 31))
      return 0...(section.count - 8 - 8 * wordsMissing) ~= offset
        ? section.littleEndian(at: offset, count: 8) : nil
    }
    return check.accepts(ruleAt: Self.place + UInt64(cie.count))
  }

  private static func bytes(_ number: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  /// Padded with DW_CFA_nop to whole words.
  private static func entry(_ body: [UInt8]) -> [UInt8] {
    let padded = body + [UInt8](repeating: 0, count: -(body.count + 4) & 7)
    return bytes(UInt32(padded.count)) + padded
  }
}

@Suite struct RuleCheckTests {
  /// Augmentation as C++ has it: rules for exceptions (P, L), and a signal frame (S).
  @Test(arguments: [
    Section(), Section(version: 3), Section(augmentation: "zRS"),
    Section(augmentation: "zPLR", augmentationData: [0x9B, 0, 0, 0, 0, 0x1B, 0x1B]),
    Section(instructions: [0x09, 3, 16]), Section(instructions: [0x0F, 2, 0x77, 0x08]),
  ])
  private func accepted(section: Section) { #expect(section.isAccepted, "\(section)") }

  @Test(
    "SYM-24: rules by which libunwind would reach beyond its own tables are not handed to it",
    arguments: [
      // DW_CFA_register names a register that does not exist, in one byte and in many.
      Section(instructions: [0x09, 3, 17]), Section(instructions: [0x09, 3, 0xFF, 0xFF, 0xFF, 0x7F]),
      Section(returnColumn: 17), Section(returnColumn: 0x7F),
      // libunwind takes the distance to the CIE for a signed one.
      Section(linkError: 1 << 31),
    ])
  private func dangerous(section: Section) { #expect(!section.isAccepted, "\(section)") }

  @Test(
    "SYM-24: what no compiler writes is not handed to libunwind",
    arguments: [
      Section(version: 2), Section(augmentation: "eh"), Section(augmentation: "zX"),
      Section(augmentation: "zRRRRR"),
      // DW_EH_PE_aligned, and data that is longer than its letters say.
      Section(augmentationData: [0x50]), Section(augmentationData: [0x1B, 0]),
      // An unknown instruction, a block beyond the end, an operand without end.
      Section(instructions: [0x3A]), Section(instructions: [0x0F, 0x70]),
      Section(instructions: [0x0E] + [UInt8](repeating: 0x80, count: 12)),
      // The last words of the section cannot be read.
      Section(wordsMissing: 1),
    ])
  private func strange(section: Section) { #expect(!section.isAccepted, "\(section)") }

  @Test("SYM-24: a rule further from its function than the made table can say is not handed over")
  func distant() throws {
    let function: UInt64 = 0x7000_0000_0000
    for distance in [Int64(Int32.max), Int64(Int32.min)] {
      let rule = try #require(FoundRule(for: function, at: function &+ UInt64(bitPattern: distance)))
      #expect(rule.base == function)
    }
    for distance in [Int64(Int32.max) + 1, Int64(Int32.min) - 1, 1 << 40] {
      #expect(FoundRule(for: function, at: function &+ UInt64(bitPattern: distance)) == nil)
    }
  }
}
