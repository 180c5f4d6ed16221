// Whether a value is one that a JSON Schema allows.

import Foundation
import TestSupport

/// Checks values against a JSON Schema, as far as ours goes. A keyword that it does not know is a problem.
struct SchemaChecker {
  let root: JSONValue
  /// The properties that some value had, as `definition.property`.
  private(set) var seen: Set<String> = []

  init(root: JSONValue) { self.root = root }

  /// What is wrong with the value; empty if nothing is.
  mutating func problems(of value: JSONValue, in schema: JSONValue, at path: String) -> [String] {
    schema.object.flatMap { keyword, argument -> [String] in
      switch (keyword, value) {
      case ("$schema", _), ("title", _), ("description", _), ("$defs", _), ("properties", _): []
      case ("$ref", _):
        problems(of: value, in: definition(argument), at: argument.string ?? "")
      case ("oneOf", _): problemsOfChoice(value, argument.array)
      case ("type", _):
        value.typeNames.isDisjoint(with: argument.string.map { [$0] } ?? argument.array.compactMap(\.string))
          ? ["\(path): wrong type"] : []
      case ("const", _): value == argument ? [] : ["\(path): not \(argument)"]
      case ("enum", _): argument.array.contains(value) ? [] : ["\(path): \(value) is not allowed"]
      case ("minimum", .number(let number)):
        .number(number) == argument || number > 0 ? [] : ["\(path): too small"]
      case ("pattern", .string(let text)):
        text.range(of: argument.string ?? "", options: .regularExpression) == nil ? ["\(path): \(text)"] : []
      case ("minimum", _), ("pattern", _): []
      case ("items", _): value.array.flatMap { problems(of: $0, in: argument, at: path + "[]") }
      case ("required", _):
        argument.array.compactMap(\.string).filter { value.object[$0] == nil }.map {
          "\(path).\($0): missing"
        }
      case ("additionalProperties", _): problemsOfProperties(value, schema, path)
      default: ["\(path): unknown keyword \(keyword)"]
      }
    }
  }

  private func definition(_ reference: JSONValue) -> JSONValue {
    let name = String(reference.string?.split(separator: "/").last ?? "")
    return root.object["$defs"]?.object[name] ?? .object(["no such definition: \(name)": .null])
  }

  private mutating func problemsOfProperties(_ value: JSONValue, _ schema: JSONValue, _ path: String)
    -> [String]
  {
    let properties = schema.object["properties"]?.object ?? [:]
    return value.object.flatMap { name, part -> [String] in
      guard let schema = properties[name] else { return ["\(path).\(name): not in the schema"] }
      seen.insert("\(path).\(name)")
      return problems(of: part, in: schema, at: "\(path).\(name)")
    }
  }

  /// The choice is made by the record's type, so that the problems are those of one type only.
  private mutating func problemsOfChoice(_ value: JSONValue, _ choices: [JSONValue]) -> [String] {
    let type = value.object["type"]?.string ?? "no type"
    let matching = choices.filter { $0.object["$ref"]?.string == "#/$defs/\(type)" }
    guard matching.count == 1 else { return ["\(type): no such type of record"] }
    return problems(of: value, in: matching[0], at: type)
  }
}
