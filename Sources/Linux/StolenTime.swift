// How much time the hypervisor took from the CPUs of this machine.

/// The field `steal` of the line `cpu` in `/proc/stat`, proc_stat(5), over all CPUs. The kernel also adds up interrupts for
/// that file: on a large machine it can take long, and is then not read again.
package struct StolenTime: ~Copyable {
  private let file: PseudoFile
  private var buffer = [UInt8](repeating: 0, count: 256)
  private var isCostly = false

  private static let mostNanoseconds: Int64 = 500_000

  package init() throws(Errno) { file = try PseudoFile("/proc/stat") }

  package mutating func read() -> Duration? {
    if isCostly { return nil }
    let began = Clock.monotonicNanoseconds
    let count = try? file.read(into: &buffer)
    isCostly = Clock.monotonicNanoseconds - began > Self.mostNanoseconds
    return count.flatMap { Self.parse(buffer.span.extracting(first: $0)) }
  }

  /// `cpu  user nice system idle iowait irq softirq steal …` in hundredths of a second.
  package static func parse(_ text: Span<UInt8>) -> Duration? {
    guard var position = text.endOfKey("cpu ", from: 0) else { return nil }
    var value: UInt64 = 0
    for _ in 0..<8 {
      text.skipBlanks(at: &position)
      guard let number = text.decimal(at: &position) else { return nil }
      value = number
    }
    return .milliseconds(Int64(clamping: value % (1 << 48)) * 10)
  }
}
