// One option: its names, what it takes, what it does, and the words that explain it.

/// A row of the option table. Parser, help and refusals are made from it and from nothing else.
package struct OptionDefinition: Sendable {
  /// Without the dashes.
  package let long: String
  package let short: Character?
  package let alias: String?
  package let commands: [Command]
  package let effect: Effect
  package let help: String

  /// What giving the option does.
  package enum Effect: Sendable {
    case flag(@Sendable (inout Options) -> Void)
    case value(
      name: String, default: String?, apply: @Sendable (String, inout Options) throws(ValueProblem) -> Void)
    case help
    case version
  }

  init(
    _ long: String, short: Character? = nil, alias: String? = nil, for commands: [Command], _ effect: Effect,
    _ help: String
  ) {
    self.long = long
    self.short = short
    self.alias = alias
    self.commands = commands
    self.effect = effect
    self.help = help
  }
}

extension OptionDefinition.Effect {
  /// A flag that sets a field to a fixed value.
  static func set<Value: Sendable>(
    _ field: any WritableKeyPath<Options, Value> & Sendable, to value: Value
  ) -> Self {
    .flag { $0[keyPath: field] = value }
  }

  /// An argument that is read into a field.
  static func read<Value>(
    _ name: String, default standard: String? = nil,
    into field: any WritableKeyPath<Options, Value> & Sendable,
    by read: @escaping @Sendable (String) throws(ValueProblem) -> Value
  ) -> Self {
    .value(name: name, default: standard) { (text, options) throws(ValueProblem) in
      options[keyPath: field] = try read(text)
    }
  }
}
