// What libunwind's accessors are asked for one step, and where the rule for it is found.

internal import Linux
internal import StallCore

/// The state behind the accessors' opaque argument.
final class RuleQuery {
  let registers: Registers
  let lookup: UInt64
  let memory: WalkMemory
  var foundNoRule = false
  var missedRegister = false
  private let index: (ElfImage, UnwindIndex.Kind) -> UnwindIndex?
  /// What lies at `RuleTable.madeAddress`.
  private var made: [UInt8] = []

  init(
    registers: Registers, lookup: UInt64, memory: WalkMemory,
    index: @escaping (ElfImage, UnwindIndex.Kind) -> UnwindIndex?
  ) {
    self.index = index
    self.registers = registers
    self.lookup = lookup
    self.memory = memory
  }

  /// The table in which the rule for an address is to be looked up; nil if its module has none.
  func table(for pc: UInt64, _ kind: UnwindIndex.Kind) -> RuleTable? {
    guard let module = memory.space.module(containing: pc), let image = module.image,
      let bias = module.loadBias
    else { return nil }
    if kind == .loaded, let segment = image.unwindTable,
      let table = RuleTable(segment, in: image, loadBias: bias)
    {
      return table
    }
    guard let index = index(image, kind), let rule = index.rule(before: pc &- bias) else { return nil }
    switch kind {
    case .loaded:
      // The section lies within 2 GB of the code.
      let place = index.address &+ UInt64(rule.rule) &- rule.firstAddress
      made = DebugRule.bytes(of: place << 32)
      return RuleTable(base: rule.firstAddress &+ bias, entries: RuleTable.madeAddress, count: 1)
    case .debug:
      guard let rule = DebugRule(at: rule.rule, of: index.contents, loadBias: bias) else {
        return nil
      }
      made = rule.bytes
      return RuleTable(base: RuleTable.madeAddress, entries: RuleTable.madeAddress, count: 1)
    }
  }

  func word(at address: UInt64) -> UInt64? {
    let offset = address &- RuleTable.madeAddress
    guard offset < UInt64(made.count), offset & 7 == 0 else { return memory.word(at: address) }
    return made.littleEndian(at: Int(offset), count: 8)
  }
}

/// A sorted table of pairs: distance from `base` to a function's first address, distance from `base` to its rule.
struct RuleTable {
  var base: UInt64
  var entries: UInt64
  var count: UInt64

  /// For tables of one entry: in the hole between user and kernel addresses.
  static let madeAddress: UInt64 = 1 << 63

  init(base: UInt64, entries: UInt64, count: UInt64) {
    self.base = base
    self.entries = entries
    self.count = count
  }

  /// `.eh_frame_hdr`. Layout: Linux Standard Base core 5.0, section 10.6.2. Only the encodings that linkers write are
  /// understood: version 1, a 32-bit relative pointer (DW_EH_PE_pcrel or datarel | sdata4), a 32-bit count, and
  /// 32-bit distances from the header.
  init?(_ segment: ElfImage.Segment, in image: ElfImage, loadBias: UInt64) {
    guard let header = image.pages.bytes(at: segment.fileOffset, count: 12),
      header[0] == 1, header[1] == 0x1B || header[1] == 0x3B, header[2] == 0x03, header[3] == 0x3B
    else { return nil }
    base = segment.virtualAddress &+ loadBias
    entries = base &+ 12
    count = header.littleEndian(at: 8, count: 4)
    guard count > 0, segment.fileSize >= 12, count <= (segment.fileSize - 12) / 8 else { return nil }
  }
}
