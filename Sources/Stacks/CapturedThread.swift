// One way's result, before it leaves the helper: the stack bytes still lie in the copy buffer.

internal import StallCore

struct CapturedThread {
  var way: CaptureWay
  var registers: Registers
  var stack: StackCopy
  var stoppedNanoseconds: Int64
  var takenAtNanoseconds: Int64
  /// See `PerfSample`.
  var kernelAddresses: [UInt64] = []
}
