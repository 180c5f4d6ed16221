// Where the time went, as text: the paths of the stacks, heaviest first.

internal import StallCore

/// The stacks of one thread that stand for some of its time.
struct SharesText {
  private let sampling: SamplingRecord
  /// Heaviest first.
  private let stacks: [StackRecord]

  private static let mostPaths = 4
  /// A path is cut in its middle, a name at its end.
  private static let mostFunctions = 4
  private static let longestName = 40

  /// Nil where nothing is known of that.
  init?(_ stacks: [StackRecord], _ sampling: SamplingRecord?) {
    self.stacks = stacks.filter { $0.weight != nil }
    guard let sampling, !self.stacks.isEmpty else { return nil }
    self.sampling = sampling
  }

  var isOnePath: Bool { stacks.count == 1 }

  /// "14 stacks, all the same"; nothing of a single one.
  var count: String? {
    guard sampling.samples > 1 else { return nil }
    return "\(counted(sampling.samples, "stack"))" + (isOnePath ? ", all the same" : "")
  }

  /// Whose fault it is: the function of the program itself in which most of the time went. A runtime's own functions are
  /// not what its user has written.
  func blameLine(_ style: TextStyle) -> [String] {
    guard let blamed = stacks[0].ownFunction, stacks[0].hints.isEmpty else { return [] }
    let weight = stacks.filter { $0.ownFunction == blamed }.reduce(Duration.zero) {
      $0 + ($1.weight?.duration ?? .zero)
    }
    let start = "  \(cut(blamed.text))  "
    return [start + style.palette.faint("blamed: deepest of your code, \(share(weight)) of the time")]
  }

  /// `  parseRows ▸ splitLine ▸ memchr  88 % of 300 stacks`, the part that all have in common folded.
  func pathLines(_ style: TextStyle) -> [String] {
    let shown = stacks.prefix(Self.mostPaths)
    let names = shown.map(path)
    var shares = shown.map { share($0.weight?.duration ?? .zero) }
    shares[0] += " of \(counted(sampling.samples, "stack"))"
    var rows = Array(zip(names, shares))
    let rest = stacks.dropFirst(shown.count)
    let unseen = rest.reduce(sampling.other.duration) { $0 + ($1.weight?.duration ?? .zero) }
    if unseen * 200 >= sampling.covered.duration {
      let what = rest.isEmpty ? "not known" : "\(counted(rest.count, "more path")), or not known"
      rows.append((what, share(unseen)))
    }
    let width = rows.map(\.0.count).max() ?? 0
    return rows.map { "  " + padded($0.0, to: width) + "  " + style.palette.faint($0.1) }
  }

  private func share(_ weight: Duration) -> String {
    (Percent(weight, of: sampling.covered.duration) ?? Percent(0)).spoken
  }

  /// From where it parts from the one that it goes with for longest; of a single one from the deepest function of the program
  /// itself.
  private func path(_ stack: StackRecord) -> String {
    let functions = functions(stack)
    let own = functions.lastIndex { $0 == stack.ownFunction?.text } ?? 0
    let start = stack.end == .root ? parting(functions).map { $0 - 1 } ?? own : own
    var names = functions.dropFirst(max(0, min(start, functions.count - 1))).map(cut)
    // What tells it from the others stands at its front.
    if names.count > Self.mostFunctions {
      names.replaceSubrange(Self.mostFunctions - 2..<names.count - 1, with: ["…"])
    }
    return names.joined(separator: " ▸ ")
  }

  /// How many of its outermost functions one of the others that are shown has as well; nil where there is none. Of those
  /// alone that are known to their root.
  private func parting(_ path: [String]) -> Int? {
    stacks.prefix(Self.mostPaths).filter { $0.end == .root }.map(functions).filter { $0 != path }
      .map { zip(path, $0).prefix { $0 == $1 }.count }.max()
  }

  /// Outermost first.
  private func functions(_ stack: StackRecord) -> [String] {
    stack.frames.reversed().filter { !$0.isInlined }.map(\.name)
  }

  private func cut(_ name: String) -> String {
    name.count > Self.longestName ? name.prefix(Self.longestName - 1) + "…" : name
  }
}
