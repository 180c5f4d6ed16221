// Whether libunwind may be handed a rule: some numbers in it are places in tables of its own, and it checks only most.

internal import Linux

/// Goes over a rule (FDE) and what it has in common with others (CIE) as libunwind reads them: in the form that running
/// programs have, byte by byte through the same words. What it would take for a place is the column of the return address,
/// and the register that DW_CFA_register names second. What is written in no way that compilers write is refused too: the
/// two might not mean the same by it.
///
/// Layouts: Linux Standard Base core 5.0, sections 10.5 and 10.6; instructions: DWARF 5, section 6.4.2.
package struct RuleCheck {
  private struct Common {
    /// How its rules write addresses.
    var encoding: UInt8 = 0
    /// Its rules say how long their own augmentation is.
    var isSized = false
  }

  private let word: (UInt64) -> UInt64?
  private var address: UInt64 = 0
  private var end: UInt64 = 0

  /// Real rules have some hundred bytes.
  private static let mostBytes: UInt64 = 65_536
  private static let longestAugmentation = 4

  /// `word` reads eight bytes at a multiple of eight.
  package init(_ word: @escaping (UInt64) -> UInt64?) { self.word = word }

  package mutating func accepts(ruleAt place: UInt64) -> Bool {
    // libunwind takes the distance for a signed one.
    guard begin(at: place), let link = number(4), link != 0, link <= Int32.max else { return false }
    let rest = (address, end)
    guard let common = common(at: place &+ 4 &- link) else { return false }
    (address, end) = rest
    guard let size = Self.pointerSize(common.encoding), skip(UInt64(2 * size)),
      !common.isSized || skipBlock()
    else { return false }
    return acceptsInstructions(common)
  }

  private mutating func common(at place: UInt64) -> Common? {
    guard begin(at: place), number(4) == 0, let version = number(1), version == 1 || version == 3,
      let letters = letters()
    else { return nil }
    // The alignment factors.
    guard variable() != nil, variable() != nil,
      (version == 1 ? number(1) : variable()) == UInt64(Registers.programCounter),
      let common = augmentation(letters), acceptsInstructions(common)
    else { return nil }
    return common
  }

  private mutating func letters() -> [UInt8]? {
    var letters: [UInt8] = []
    while letters.count <= Self.longestAugmentation, let letter = number(1) {
      if letter == 0 { return letters }
      letters.append(UInt8(letter))
    }
    return nil
  }

  private mutating func augmentation(_ letters: [UInt8]) -> Common? {
    var common = Common()
    if letters.isEmpty { return common }
    guard letters[0] == UInt8(ascii: "z"), let size = variable(), size <= end - address else { return nil }
    common.isSized = true
    let instructions = address + size
    for letter in letters.dropFirst() {
      switch letter {
      case UInt8(ascii: "R"):
        guard let encoding = number(1) else { return nil }
        common.encoding = UInt8(encoding)
      case UInt8(ascii: "L"):
        guard skip(1) else { return nil }
      case UInt8(ascii: "P"):
        guard let encoding = number(1), let size = Self.pointerSize(UInt8(encoding)), skip(UInt64(size))
        else {
          return nil
        }
      case UInt8(ascii: "S"): break
      default: return nil
      }
    }
    return address == instructions ? common : nil
  }

  private mutating func acceptsInstructions(_ common: Common) -> Bool {
    while address < end {
      guard let code = number(1) else { return false }
      // The upper two bits are an instruction of their own, with its operand in the others.
      let isAccepted =
        switch code & 0xC0 {
        case 0x40, 0xC0: true
        case 0x80: variable() != nil
        default: acceptsOperands(of: code, common)
        }
      if !isAccepted { return false }
    }
    return true
  }

  private mutating func acceptsOperands(of code: UInt64, _ common: Common) -> Bool {
    switch code {
    // nop, remember_state, restore_state
    case 0x00, 0x0A, 0x0B: true
    // set_loc
    case 0x01: Self.pointerSize(common.encoding).map { skip(UInt64($0)) } ?? false
    // advance_loc1, advance_loc2, advance_loc4, MIPS_advance_loc8
    case 0x02: skip(1)
    case 0x03: skip(2)
    case 0x04: skip(4)
    case 0x1D: skip(8)
    // restore_extended, undefined, same_value, def_cfa_register, def_cfa_offset, def_cfa_offset_sf, GNU_args_size
    case 0x06, 0x07, 0x08, 0x0D, 0x0E, 0x13, 0x2E: variable() != nil
    // offset_extended, def_cfa, offset_extended_sf, def_cfa_sf, val_offset, val_offset_sf, GNU_negative_offset_extended
    case 0x05, 0x0C, 0x11, 0x12, 0x14, 0x15, 0x2F: variable() != nil && variable() != nil
    // register
    case 0x09: variable() != nil && variable().map { $0 < UInt64(Registers.count) } ?? false
    // def_cfa_expression
    case 0x0F: skipBlock()
    // expression, val_expression
    case 0x10, 0x16: variable() != nil && skipBlock()
    default: false
    }
  }

  /// Absolute or some distance, in so many bytes; DW_EH_PE_aligned, whose place is not known from here, is not written.
  private static func pointerSize(_ encoding: UInt8) -> Int? {
    if encoding & 0x70 == 0x50 { return nil }
    return switch encoding & 0x0F {
    case 0x00, 0x04, 0x0C: 8
    case 0x03, 0x0B: 4
    case 0x02, 0x0A: 2
    default: nil
    }
  }
}

extension RuleCheck {
  /// At the length that every entry begins with.
  private mutating func begin(at place: UInt64) -> Bool {
    guard place < .max - Self.mostBytes - 8 else { return false }
    (address, end) = (place, place + 4)
    guard let length = number(4), length >= 4, length <= Self.mostBytes else { return false }
    end = address + length
    return true
  }

  private mutating func skip(_ count: UInt64) -> Bool {
    guard count <= end - address else { return false }
    address += count
    return true
  }

  private mutating func skipBlock() -> Bool { variable().map { skip($0) } ?? false }

  private mutating func number(_ count: UInt64) -> UInt64? {
    guard count <= end - address else { return nil }
    var number: UInt64 = 0
    for index in 0..<count {
      guard let word = word(address & ~7) else { return nil }
      number |= (word >> (8 * (address & 7)) & 0xFF) << (8 * index)
      address += 1
    }
    return number
  }

  /// LEB128, of which a signed one is as long. Of more bytes than a word has bits for libunwind makes any number.
  private mutating func variable() -> UInt64? {
    var value: UInt64 = 0
    for shift in stride(from: 0 as UInt64, to: 63, by: 7) {
      guard let byte = number(1) else { return nil }
      value |= (byte & 0x7F) << shift
      if byte & 0x80 == 0 { return value }
    }
    return nil
  }
}
