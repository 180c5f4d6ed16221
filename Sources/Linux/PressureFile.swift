// `/proc/pressure/{cpu,memory,io}`: for how long processes had to wait, Documentation/accounting/psi.rst.

package struct PressureFile: ~Copyable, Sendable {
  private let file: PseudoFile

  /// Fails where the kernel does not account for it.
  package init(_ resource: String) throws(Errno) { file = try PseudoFile("/proc/pressure/\(resource)") }

  /// In all, since boot, while some process waited.
  package func some(_ buffer: inout [UInt8]) -> Duration? {
    guard let count = try? file.read(into: &buffer) else { return nil }
    return Self.parse(buffer.span.extracting(first: count))
  }

  /// `some avg10=0.00 avg60=0.00 avg300=0.00 total=12345` (microseconds), then a line `full`.
  package static func parse(_ text: Span<UInt8>) -> Duration? {
    guard var position = text.endOfKey("some ", from: 0) else { return nil }
    while position < text.count, text[position] != UInt8(ascii: "\n") {
      if text.matches("total=", at: position) {
        position += 6
        return text.decimal(at: &position).map { .microseconds(Int64(clamping: $0 % (1 << 52))) }
      }
      position += 1
    }
    return nil
  }
}
