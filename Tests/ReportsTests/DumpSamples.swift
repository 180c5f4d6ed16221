// Made-up dumps of many threads.

import Reports
import StallCore

/// The threads of a dump, and its end.
func dump(_ stacks: [Stack]) -> [Record] {
  let summary = DumpSummaryRecord(
    threads: stacks.count, missing: [], omitted: 0, took: .milliseconds(14), targetStopped: .zero)
  return series("build-3", stacks.map { (0, .dump(ThreadDumpRecord($0))) } + [(0.014, .dumpSummary(summary))])
}

/// Most threads wait in one of two places, one of them with the main thread.
let dumpedCrowd: [Record] = {
  func waiting(_ thread: Int32, _ name: ByteString, in function: ByteString = "waitForWork") -> Stack {
    var stack = stack(
      [
        frame(0x7FFF_0000_9A2F, "futex_wait", "/usr/lib/libc.so.6"),
        frame(0x5555_0000_5000 + UInt64(function.bytes.count), function, "/opt/viewer/bin/viewer"),
      ], role: .worker)
    (stack.threadID, stack.threadName) = (thread, name)
    return stack
  }
  var main = waiting(4242, "viewer", in: "waitForAnyone")
  main.role = .main
  let workers = (0..<5).map { waiting(4300 + $0, ByteString("worker-\($0)")) }
  let asleep = waiting(4400, "asleep", in: "waitForAnyone")
  return dump([main, workers[0], deep, workers[1], workers[2], asleep, workers[3], workers[4]])
}()
