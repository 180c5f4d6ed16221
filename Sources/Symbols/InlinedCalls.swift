// The functions that cover an address within one unit: a function, and the calls inlined into it.

internal import Linux

/// Walks the entries of one unit; gives up at a moment.
struct InlinedCalls {
  /// The function, then what was inlined into it, outermost first.
  private(set) var chain: [DebugEntry] = []
  /// The deadline came first.
  private(set) var isUnfinished = false

  /// Also look for functions inside functions that do not cover the address: closures of Swift, nested functions of C.
  private var looksInside = false
  private var entries = 0
  private let address: UInt64
  private let deadline: Int64

  /// Deeper nesting is not followed.
  private static let maximumDepth = 256

  init(in unit: DebugEntry, at address: UInt64, until deadline: Int64) {
    self.address = address
    self.deadline = deadline
    if !search(below: unit, depth: 0) {
      looksInside = true
      _ = search(below: unit, depth: 0)
    }
    if isUnfinished { chain = [] }
  }

  /// True if the search is over.
  private mutating func search(below parent: DebugEntry, depth: Int) -> Bool {
    guard depth < Self.maximumDepth else { return false }
    var parent = parent
    var entry = parent.firstChild
    while var current = entry {
      if isOutOfTime() || visit(&current, depth: depth) { return true }
      entry = current.sibling
    }
    return false
  }

  private mutating func visit(_ entry: inout DebugEntry, depth: Int) -> Bool {
    switch entry.kind {
    case .function, .inlinedCall, .block:
      guard entry.covers(address) else {
        return looksInside && entry.kind != .inlinedCall && search(below: entry, depth: depth + 1)
      }
      if entry.kind != .block { chain.append(entry) }
      _ = search(below: entry, depth: depth + 1)
      return true
    case .scope:
      // Functions stand where they are declared in what Rust and Swift emit.
      return chain.isEmpty && search(below: entry, depth: depth + 1)
    case .compilationUnit, .other: return false
    }
  }

  private mutating func isOutOfTime() -> Bool {
    entries += 1
    if entries % 256 == 0, Clock.monotonicNanoseconds >= deadline { isUnfinished = true }
    return isUnfinished
  }
}
