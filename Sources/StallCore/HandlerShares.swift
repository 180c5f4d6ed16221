// Which handlers a busy loop spends its time in, told from stacks taken while it was busy.

/// A function, as far as two stacks can be compared by it.
package struct FunctionIdentity: Hashable, Sendable {
  /// The path of its file, or the last component of that. Nil: of any file, or of none.
  package let module: ByteString?
  package let symbol: ByteString?
  /// Of functions without a name: where in the file they were called or, without a file, in memory.
  package let offset: UInt64?

  package init(symbol: ByteString, module: ByteString?) {
    (self.symbol, self.module, offset) = (symbol, module, nil)
  }

  package init(_ frame: Frame) {
    module = frame.module?.path
    symbol = frame.symbol
    offset = frame.symbol == nil ? frame.moduleOffset ?? frame.programCounter : nil
  }

  /// Any order, as long as it is always the same.
  fileprivate func precedes(_ other: FunctionIdentity) -> Bool {
    let (left, right) = (symbol?.bytes ?? [], other.symbol?.bytes ?? [])
    return left == right ? (offset ?? 0) < (other.offset ?? 0) : left.lexicographicallyPrecedes(right)
  }

  fileprivate func names(_ frame: FunctionIdentity) -> Bool {
    guard let symbol, symbol == frame.symbol else { return false }
    guard let module, module != frame.module else { return true }
    return frame.module.map { ModuleReference(path: $0, buildID: nil).name } == module
  }
}

/// Time in one handler.
package struct HandlerShare: Sendable, Equatable {
  package let handler: FunctionIdentity
  package let weight: Duration
}

/// The loop calls its handlers: the handler of a stack is the function that the loop's own innermost frame has called.
package struct HandlerShares: Sendable {
  /// Equal stacks are kept once, outermost function first.
  private var stacks: [[FunctionIdentity]: Duration] = [:]
  /// Functions of the loop itself, such as the one that called its wait when it was parked; those that the rules know are
  /// known without. With none that occurs in a stack, the deepest frame common to all stacks is taken for it.
  package var knownLoop: [FunctionIdentity] = []
  private var loopsByRule: Set<FunctionIdentity> = []
  /// Of all stacks, also of those that were too many to keep or had no root.
  package private(set) var weight: Duration = .zero
  package private(set) var samples = 0

  /// More different stacks than this are only counted.
  private static let mostStacks = 64

  package init() {}

  package mutating func add(_ stack: Stack, weight part: Duration, _ rules: LoopRules = .none) {
    addUnknown(weight: part)
    guard stack.end == .root, !stack.frames.isEmpty else { return }
    let functions = Array(stack.frames.reversed().map(FunctionIdentity.init))
    if stacks[functions] == nil {
      guard stacks.count < Self.mostStacks else { return }
      loopsByRule.formUnion(stack.frames.filter(rules.belongsToLoop).map(FunctionIdentity.init))
    }
    stacks[functions, default: .zero] += part
  }

  /// A sample whose stack could not be had.
  package mutating func addUnknown(weight part: Duration) {
    samples += 1
    weight += part
  }

  /// The function whose calls the shares are of; nil if there is none, or if there are several.
  package var loop: FunctionIdentity? {
    let common = commonDepth
    let loops = Set(
      stacks.keys.compactMap { functions in loopIndex(in: functions, common).map { functions[$0] } })
    return loops.count == 1 ? loops.first : nil
  }

  /// Most time first. What they do not add up to was spent in the loop itself, or is not known.
  package var shares: [HandlerShare] {
    let common = commonDepth
    var weights: [FunctionIdentity: Duration] = [:]
    for (functions, weight) in stacks {
      guard let handler = handler(in: functions, common) else { continue }
      weights[handler, default: .zero] += weight
    }
    return weights.map { HandlerShare(handler: $0.key, weight: $0.value) }.sorted {
      $0.weight == $1.weight ? $0.handler.precedes($1.handler) : $0.weight > $1.weight
    }
  }

  /// A loop that a library runs goes through more functions of that library before it reaches the program's.
  private func handler(in functions: [FunctionIdentity], _ common: Int) -> FunctionIdentity? {
    guard let loop = loopIndex(in: functions, common), loop + 1 < functions.count else { return nil }
    let program = functions.first { $0.symbol == "main" } ?? functions[0]
    if functions[loop].module == program.module { return functions[loop + 1] }
    return functions[(loop + 1)...].first { $0.module != functions[loop].module } ?? functions[loop + 1]
  }

  /// Of loops inside loops the innermost: its handlers are what runs.
  private func loopIndex(in functions: [FunctionIdentity], _ common: Int) -> Int? {
    functions.lastIndex { function in
      loopsByRule.contains(function) || knownLoop.contains { $0.names(function) }
    }
      ?? (stacks.count > 1 && common > 0 ? common - 1 : nil)
  }

  /// How many of the outermost frames all stacks have in common.
  private var commonDepth: Int {
    guard var common = stacks.keys.first?[...] else { return 0 }
    for functions in stacks.keys {
      common = common.prefix(zip(common, functions).prefix { $0 == $1 }.count)
    }
    return common.count
  }
}

extension LoopRules {
  /// What it calls, if it does not belong to the loop itself, is a handler.
  fileprivate func belongsToLoop(_ frame: Frame) -> Bool {
    rules(for: frame).contains { rule in
      switch rule.meaning {
      case .loop, .part, .dispatch, .nested: true
      case .work, .call: false
      }
    }
  }
}
