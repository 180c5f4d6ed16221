// The functions of the kernel, from the list of all its symbols, `/proc/kallsyms`.

package struct KernelSymbol: Hashable, Sendable {
  package let start: UInt64
  package let name: [UInt8]
  /// Nil: it is of the kernel itself.
  package let module: [UInt8]?

  package init(start: UInt64, name: [UInt8], module: [UInt8]? = nil) {
    (self.start, self.name, self.module) = (start, name, module)
  }
}

/// The list is many megabytes of text, which the kernel takes tens of milliseconds to write. It is read once, in pieces, and
/// only the functions are kept.
package struct KernelSymbols: Sendable {
  /// By their starts once all are there. `name` is where that begins in `names`.
  private var functions: [(start: UInt64, name: UInt32)] = []
  /// Each as the list has it, to the end of its line.
  private var names: [UInt8] = []
  private var isAscending = true

  private static let pieceBytes = 65_536
  /// No function is so long: the address is in none of those that are listed.
  private static let mostFunctionBytes: UInt64 = 1 << 18
  /// The kernel has some ten megabytes of them.
  private static let mostNameBytes = 64 << 20

  package init() {}

  /// Fails with `accessDenied` where the kernel hides addresses (`kernel.kptr_restrict`): then the list has the same lines,
  /// all with zeros.
  package static func read(from path: String = "/proc/kallsyms") throws(Errno) -> KernelSymbols {
    let file = try FileDescriptor.open(path)
    var symbols = KernelSymbols()
    var (offset, rest): (Int, [UInt8]) = (0, [])
    repeat {
      let piece = try file.readAll(from: offset, limit: pieceBytes)
      if piece.isEmpty { break }
      offset += piece.count
      let text = rest + piece
      let used = symbols.take(text.span)
      // So long is no line.
      rest = used == 0 ? [] : Array(text[used...])
    } while !symbols.isHidden && symbols.names.count < mostNameBytes
    if symbols.isHidden || symbols.functions.isEmpty { throw .accessDenied }
    symbols.finish()
    return symbols
  }

  private var isHidden: Bool { functions.last?.start == 0 }

  /// Takes the lines of a piece of the list, and answers how many bytes of it whole lines are.
  package mutating func take(_ text: Span<UInt8>) -> Int {
    var (position, used) = (0, 0)
    while text.skipPast(UInt8(ascii: "\n"), at: &position) {
      if let (start, name) = Self.function(in: text, used..<position) { add(start, text, name) }
      used = position
    }
    return used
  }

  private mutating func add(_ start: UInt64, _ text: Span<UInt8>, _ name: Range<Int>) {
    if let last = functions.last {
      // Of several names the first one counts, as for the kernel itself (kernel/kallsyms.c, `get_symbol_pos`).
      if last.start == start { return }
      if last.start > start { isAscending = false }
    }
    functions.append((start, UInt32(truncatingIfNeeded: names.count)))
    for index in name { names.append(text[index]) }
  }

  /// `ffffffff81000000 T name`, and for a module a tab and `[module]` (kernel/kallsyms.c, `s_show`). Only what is code. The
  /// name goes on to the end of the line.
  private static func function(
    in text: Span<UInt8>, _ line: Range<Int>
  ) -> (start: UInt64, name: Range<Int>)? {
    let text = text.extracting(0..<line.upperBound)
    var position = line.lowerBound
    guard let start = text.hexadecimal(at: &position), position + 4 < line.upperBound,
      text[position] == UInt8(ascii: " "), text[position + 2] == UInt8(ascii: " ")
    else { return nil }
    switch text[position + 1] {
    case UInt8(ascii: "t"), UInt8(ascii: "T"), UInt8(ascii: "w"), UInt8(ascii: "W"): break
    default: return nil
    }
    return (start, position + 3..<line.upperBound)
  }

  /// All lines are there. Those of modules come behind the others, in no order.
  package mutating func finish() {
    if !isAscending { functions.sort { ($0.start, $0.name) < ($1.start, $1.name) } }
    isAscending = true
  }

  /// The function that an address lies in.
  package func symbol(at address: UInt64) -> KernelSymbol? {
    var (low, high) = (0, functions.count)
    while low < high {
      let middle = (low + high) / 2
      if functions[middle].start <= address { low = middle + 1 } else { high = middle }
    }
    guard low > 0, address - functions[low - 1].start < Self.mostFunctionBytes else { return nil }
    let (start, name) = functions[low - 1]
    return KernelSymbol(start: start, text: names[Int(name)...].prefix { $0 != UInt8(ascii: "\n") })
  }
}

extension KernelSymbol {
  /// `name`, or `name`, a tab and `[module]`.
  fileprivate init(start: UInt64, text: ArraySlice<UInt8>) {
    let parts = text.split(separator: UInt8(ascii: "\t"), maxSplits: 1)
    let module = parts.count > 1 ? parts[1].dropFirst().prefix { $0 != UInt8(ascii: "]") } : []
    self.init(start: start, name: Array(parts.first ?? []), module: module.isEmpty ? nil : Array(module))
  }
}
