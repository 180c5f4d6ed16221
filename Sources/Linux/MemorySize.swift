// How much memory a process has mapped, and how much it really occupies.

internal import Glibc

/// As `statm` counts it (proc_pid_statm(5)). The kernel keeps these sums, while for the `stat` of a process it adds up all
/// threads under a lock that they need.
package struct MemorySize: Equatable, Sendable {
  /// Of all mappings together.
  package let virtualBytes: UInt64
  /// What is in memory. Shared pages count.
  package let residentBytes: UInt64

  package init(process: Int32) throws(Errno) { try self.init(path: "/proc/\(process)/statm") }

  /// As seen by one of its threads: an ended leader has no memory any more.
  package init(process: Int32, thread: Int32) throws(Errno) {
    try self.init(path: "/proc/\(process)/task/\(thread)/statm")
  }

  private init(path: String) throws(Errno) {
    let bytes = try readPseudoFile(path, limit: 256)
    guard let size = MemorySize(bytes.span) else { throw .noSuchProcess }
    self = size
  }

  /// Two numbers of pages, and more behind them.
  package init?(_ text: Span<UInt8>) {
    var position = 0
    guard let virtual = text.decimal(at: &position) else { return nil }
    text.skipBlanks(at: &position)
    guard let resident = text.decimal(at: &position) else { return nil }
    let page = UInt64(sysconf(Int32(_SC_PAGESIZE)))
    (virtualBytes, residentBytes) = (virtual &* page, resident &* page)
  }
}
