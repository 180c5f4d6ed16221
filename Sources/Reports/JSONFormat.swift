// JSON lines: one object a record, keys in alphabetical order.

internal import FoundationEssentials

package struct JSONFormat: ReportFormat {
  package init() {}

  package func render(_ record: Record) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return try [UInt8](encoder.encode(record)) + [UInt8(ascii: "\n")]
    } catch {
      // Only numbers that are not finite cannot be encoded, and no field can hold one.
      preconditionFailure("record cannot be encoded: \(error)")
    }
  }
}
