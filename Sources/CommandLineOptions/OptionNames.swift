// Finding an option by its name, and the one that was probably meant.

internal import StallCore

extension OptionDefinition {
  static func named(long name: String) -> OptionDefinition? {
    optionTable.first { $0.long == name || $0.alias == name }
  }

  static func named(short letter: Character) -> OptionDefinition? {
    optionTable.first { $0.short == letter }
  }

  /// The option whose name begins like the word or takes the fewest edits to become it; nil if none is near.
  static func nearest(to word: String) -> String? {
    let name = String(word.drop { $0 == "-" }.prefix { $0 != "=" })
    guard name.count > 1 else { return nil }
    let names = optionTable.flatMap { [$0.long] + ($0.alias.map { [$0] } ?? []) }
    let begun = names.filter { $0.hasPrefix(name) }
    if begun.count == 1 { return "--\(begun[0])" }
    let ranked = names.map { (name: $0, edits: editDistance(name, $0)) }
    guard let best = ranked.min(by: { $0.edits < $1.edits }), best.edits <= max(1, best.name.count / 3) else {
      return nil
    }
    return "--\(best.name)"
  }
}
