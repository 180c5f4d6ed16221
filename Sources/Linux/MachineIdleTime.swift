// How long the CPUs of the machine have had nothing to do.

internal import Glibc

/// The second number of `/proc/uptime`: over all CPUs, waiting for disks not included (proc_uptime(5)).
package struct MachineIdleTime: ~Copyable {
  private let file: PseudoFile
  private var buffer = [UInt8](repeating: 0, count: 128)
  package let processors = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))

  package init() throws(Errno) { file = try PseudoFile("/proc/uptime") }

  package mutating func read() -> Duration? {
    guard let count = try? file.read(into: &buffer) else { return nil }
    return Self.parse(buffer.span.extracting(first: count))
  }

  /// Seconds with two digits behind the point.
  package static func parse(_ text: Span<UInt8>) -> Duration? {
    var position = 0
    while position < text.count, text[position] != UInt8(ascii: " ") { position += 1 }
    text.skipBlanks(at: &position)
    guard let seconds = text.decimal(at: &position), seconds < 1 << 40, position < text.count,
      text[position] == UInt8(ascii: ".")
    else { return nil }
    position += 1
    let start = position
    guard let hundredths = text.decimal(at: &position), position - start == 2 else { return nil }
    return .milliseconds(Int64(seconds) * 1000 + Int64(hundredths) * 10)
  }
}
