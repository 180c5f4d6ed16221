// Where a thread is blocked, and how often it ran before: two equal moments prove that it did not move in between.

internal import Linux

/// Off the CPU at the first look and not put on one since: such a thread cannot have touched its stack.
struct BlockedMoment: Equatable {
  private let timesScheduled: UInt64
  private let record: SystemCallRecord

  init(_ look: ThreadLook) throws(CaptureFailure) {
    timesScheduled = try look.timesScheduled()
    record = try look.systemCall()
  }

  /// Stack pointer and pc; nil for a running thread.
  var registers: Registers? {
    switch record {
    case .running: nil
    case .outsideCall(let stackPointer, let programCounter),
      .call(_, _, let stackPointer, let programCounter):
      BlockedMoment.registers(stackPointer, programCounter)
    }
  }

  private static func registers(_ stackPointer: UInt64, _ programCounter: UInt64) -> Registers {
    var registers = Registers()
    registers[Registers.stackPointer] = stackPointer
    registers[Registers.programCounter] = programCounter
    return registers
  }
}
