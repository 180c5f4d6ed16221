// What the scheduler made the calling thread wait.

/// To be made and read by the same thread.
package struct OwnSchedule: ~Copyable {
  private let file: PseudoFile
  private var buffer = [UInt8](repeating: 0, count: 128)

  package init() throws(Errno) { file = try PseudoFile("/proc/thread-self/schedstat") }

  /// How long it was ready to run and did not, since it began.
  package mutating func runQueueDelayNanoseconds() -> UInt64? {
    guard let count = try? file.read(into: &buffer) else { return nil }
    return SchedulerStatistics(buffer.span.extracting(first: count))?.runQueueDelayNanoseconds
  }
}
