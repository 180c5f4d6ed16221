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

  /// Makes a table of one entry, the rule for an address; nil if its module has none that libunwind may be handed.
  func table(for pc: UInt64, _ kind: UnwindIndex.Kind) -> RuleTable? {
    guard let module = memory.space.module(containing: pc), let image = module.image,
      let bias = module.loadBias, let rule = rule(for: pc, kind, image, loadBias: bias)
    else { return nil }
    // Made before it is checked: the rules of `.debug_frame` are only there.
    made = rule.made
    var check = RuleCheck { [unowned self] in word(at: $0) }
    return check.accepts(ruleAt: rule.address) ? RuleTable(base: rule.base) : nil
  }

  private func rule(
    for pc: UInt64, _ kind: UnwindIndex.Kind, _ image: ElfImage, loadBias bias: UInt64
  ) -> FoundRule? {
    if kind == .loaded, let segment = image.unwindTable,
      let header = RuleHeader(segment, in: image, loadBias: bias)
    {
      return header.rule(for: pc) { word(at: $0) }
    }
    guard let index = index(image, kind), let rule = index.rule(before: pc &- bias) else { return nil }
    switch kind {
    case .loaded:
      return FoundRule(
        for: rule.firstAddress &+ bias, at: index.address &+ UInt64(rule.rule) &+ bias)
    case .debug:
      return DebugRule(at: rule.rule, of: index.contents, loadBias: bias).map {
        FoundRule(
          base: RuleTable.madeAddress, address: RuleTable.madeAddress + UInt64($0.place), made: $0.bytes)
      }
    }
  }

  func word(at address: UInt64) -> UInt64? {
    let offset = address &- RuleTable.madeAddress
    guard offset < UInt64(made.count), offset & 7 == 0 else { return memory.word(at: address) }
    return made.littleEndian(at: Int(offset), count: 8)
  }
}

/// A table of one pair at `madeAddress`: distance from `base` to a function's first address, distance from `base` to its
/// rule.
struct RuleTable {
  var base: UInt64
  /// In the hole between user and kernel addresses.
  static let madeAddress: UInt64 = 1 << 63
}
