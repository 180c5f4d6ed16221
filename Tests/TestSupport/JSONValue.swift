// Any JSON value.

internal import FoundationEssentials

package enum JSONValue: Decodable, Equatable {
  case null
  case boolean(Bool)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .boolean(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([JSONValue].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }

  package var object: [String: JSONValue] { if case .object(let value) = self { value } else { [:] } }
  package var array: [JSONValue] { if case .array(let value) = self { value } else { [] } }
  package var string: String? { if case .string(let value) = self { value } else { nil } }

  package var typeNames: Set<String> {
    switch self {
    case .null: ["null"]
    case .boolean: ["boolean"]
    case .number(let value): value == value.rounded() ? ["number", "integer"] : ["number"]
    case .string: ["string"]
    case .array: ["array"]
    case .object: ["object"]
    }
  }
}
