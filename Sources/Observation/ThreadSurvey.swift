// One short look at many threads of a process, for who among them waits as a loop does.

internal import Linux
package import StallCore

package enum ThreadSurvey {
  /// Opening three files of one thread takes some 30 µs.
  package static let mostThreads = 512

  /// Of the threads given. Those that end meanwhile are left out.
  package static func glances(_ process: Int32, _ threads: some Sequence<Int32>) -> [ThreadGlance] {
    var buffer = PseudoFile.makeBuffer()
    return threads.prefix(mostThreads).compactMap { glance(process, $0, &buffer) }
  }

  private static func glance(_ process: Int32, _ thread: Int32, _ buffer: inout [UInt8]) -> ThreadGlance? {
    let directory = "/proc/\(process)/task/\(thread)/"
    do throws(Errno) {
      let count = try PseudoFile(directory + "schedstat").read(into: &buffer)
      guard let counts = SchedulerStatistics(buffer.span.extracting(first: count)) else { return nil }
      var waits = WaitView(process: process, thread: thread, asks: true)
      let call = try waits.call(at: Instant(nanoseconds: Clock.monotonicNanoseconds), &buffer)
      return ThreadGlance(
        threadID: thread, name: name(process, thread), wait: wait(call ?? waits.kind(in: .sleeping, &buffer)),
        timesScheduled: counts.timesScheduled)
    } catch { return nil }
  }

  private static func wait(_ activity: Activity) -> WaitKind? {
    switch activity {
    case .blocked(let call): Site(call, descriptors: nil)?.kind
    case .blockedByKind(let kind): kind
    case .running, .blockedOutsideCall, .unknown: nil
    }
  }

  /// Any bytes but NUL; empty if the thread has ended.
  package static func name(_ process: Int32, _ thread: Int32) -> ByteString {
    var bytes = (try? readPseudoFile("/proc/\(process)/task/\(thread)/comm")) ?? []
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    return ByteString(bytes)
  }
}
