// What a report format is.

/// Turns records into bytes. A format may remember what it has shown; empty means that there is nothing to show.
package protocol ReportFormat: Sendable {
  /// One record, complete: what is returned goes out in one write.
  mutating func render(_ record: Record) -> [UInt8]
}
