// The rules that tell from a function's name what a wait below it means: a table in a text file, and how it is read.

/// What a function on a stack says of the wait at the top of it. The raw value is the word of the table.
enum LoopRuleMeaning: String, Sendable {
  /// Runs a loop; each of its calls is one level.
  case loop
  /// Lies between a loop and its wait.
  case part
  /// Calls what the loop has to do.
  case dispatch
  /// Runs a loop inside of what a loop has to do: a dialog.
  case nested
  /// Whatever it waits on, it is work.
  case work
  /// Stands between the kernel and whoever waits.
  case call
}

struct LoopFamily: Sendable, Equatable {
  let name: String
  /// Its loop may be woken by its own eventfd.
  let mayPing: Bool
}

struct LoopRule: Sendable {
  let meaning: LoopRuleMeaning
  let function: NamePattern
  let module: NamePattern?
  /// Index in the table, which is also its rank: earlier ones are more specific.
  let family: Int
}

/// A line of a table that is not understood.
package struct LoopRulesProblem: Error, Sendable, Equatable {
  package let line: Int
  /// One sentence without a full stop.
  package let text: String
}

package struct LoopRules: Sendable {
  private(set) var families: [LoopFamily] = []
  private var rules: [LoopRule] = []
  /// Rules with a plain function name, by that name.
  private var byName: [ByteString: [Int]] = [:]
  private var withPattern: [Int] = []

  /// No rules: everything has to be learned.
  package static let none = LoopRules()

  /// The table that comes with the program.
  package static let builtIn: LoopRules =
    (try? LoopRules(parsing: PackageResources.LoopRules_txt)) ?? .none

  private init() {}

  /// A table from elsewhere may be a file of any kind.
  package static let mostBytes = 1 << 20

  package init(parsing table: [UInt8]) throws(LoopRulesProblem) {
    let lines = table.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      do throws(Malformed) { try read(line) } catch {
        throw LoopRulesProblem(line: index + 1, text: error.text)
      }
    }
  }

  package var isEmpty: Bool { rules.isEmpty }

  private struct Malformed: Error { let text: String }

  private mutating func read(_ line: ArraySlice<UInt8>) throws(Malformed) {
    let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\r") }
    guard let first = words.first, first.first != UInt8(ascii: "#") else { return }
    if first.first == UInt8(ascii: "[") { return try readFamily(line) }
    guard let meaning = LoopRuleMeaning(rawValue: String(decoding: first, as: UTF8.self)) else {
      throw Malformed(
        text: "\(ByteString(first).escaped) is no meaning; loop, part, dispatch, nested, work or call?")
    }
    guard !families.isEmpty else { throw Malformed(text: "a rule before the first [family]") }
    let hasModule = words.count == 4 && words[2].elementsEqual("in".utf8)
    guard words.count == 2 || hasModule else {
      throw Malformed(text: "a rule is MEANING FUNCTION, or MEANING FUNCTION in MODULE")
    }
    add(
      LoopRule(
        meaning: meaning, function: NamePattern(words[1]), module: hasModule ? NamePattern(words[3]) : nil,
        family: families.count - 1))
  }

  private mutating func readFamily(_ line: ArraySlice<UInt8>) throws(Malformed) {
    guard let end = line.lastIndex(of: UInt8(ascii: "]")), let start = line.firstIndex(of: UInt8(ascii: "[")),
      end > start + 1
    else { throw Malformed(text: "a family is [NAME]") }
    let rest = String(decoding: line[(end + 1)...].filter { $0 > UInt8(ascii: " ") }, as: UTF8.self)
    guard rest.isEmpty || rest == "ping:eventfd" else {
      throw Malformed(text: "behind a [family] stands nothing, or ping: eventfd")
    }
    let name = ByteString(line[(start + 1)..<end]).escaped
    families.append(LoopFamily(name: name, mayPing: !rest.isEmpty))
  }

  private mutating func add(_ rule: LoopRule) {
    if rule.function.isPlain {
      byName[rule.function.text, default: []].append(rules.count)
    } else {
      withPattern.append(rules.count)
    }
    rules.append(rule)
  }

  /// The rules that a frame falls under, in the order of the table.
  func rules(for frame: Frame) -> [LoopRule] {
    var found: [Int] = []
    let names = frame.names
    for name in names { found += byName[name] ?? [] }
    for index in withPattern
    where names.contains(where: { rules[index].function.matches($0.bytes) })
      || names.isEmpty && rules[index].function.text == "*"
    {
      found.append(index)
    }
    return Set(found).sorted().map { rules[$0] }.filter { rule in
      rule.module.map { frame.isIn($0) } ?? true
    }
  }
}

extension Frame {
  /// Every name that a rule may mean, without what compilers put behind it. The target chose them, and may have chosen
  /// so many and so long ones that comparing would take its time.
  fileprivate var names: [ByteString] {
    ([symbol, rawSymbol].compactMap { $0 } + aliases).prefix(Self.mostNames)
      .filter { $0.bytes.count <= Self.longestName }.map(\.withoutCloneSuffix)
  }

  private static let mostNames = 8
  private static let longestName = 512

  fileprivate func isIn(_ pattern: NamePattern) -> Bool {
    guard let module else { return false }
    return pattern.matches(module.path.bytes) || pattern.matches(module.name.bytes)
  }
}

extension ByteString {
  private static let cloneSuffixes = [".constprop.", ".isra.", ".part.", ".cold", ".lto_priv."].map {
    Array($0.utf8)
  }

  /// GCC names copies of a function that it has made for one purpose so.
  fileprivate var withoutCloneSuffix: ByteString {
    for start in bytes.indices.dropFirst() where bytes[start] == UInt8(ascii: ".") {
      if Self.cloneSuffixes.contains(where: { bytes[start...].starts(with: $0) }) {
        return ByteString(bytes[..<start])
      }
    }
    return self
  }
}
