// What task samples mean, for states that are hard to bring about.

import CLinux
import Linux
import Testing

@Suite struct TaskSampleTests {
  private func sample(_ change: (inout clinux_task_sample) -> Void) throws -> TaskSample {
    var raw = clinux_task_sample()
    change(&raw)
    return try #require(unsafe withUnsafeBytes(of: raw) { unsafe TaskSample($0.bytes) })
  }

  private func thread(_ change: (inout clinux_thread_sample) -> Void) throws -> ThreadSample {
    try sample { change(&$0.thread) }.thread
  }

  /// Values of include/linux/sched.h.
  @Test(arguments: [
    (0, 0, "R"), (1, 0, "S"), (0x2001, 0, "S"), (2, 0, "D"), (0x102, 0, "D"), (0x402, 0, "I"), (4, 0, "T"),
    (8, 0, "t"), (0x80, 0x20, "Z"), (0x80, 0x10, "X"), (0x40, 0, "P"), (0x8000, 0, "D"), (0x1000, 0, "D"),
  ])
  func stateLetters(_ state: UInt32, _ exitState: UInt32, _ letter: String) throws {
    let sample = try thread { ($0.state, $0.exit_state) = (state, exitState) }
    #expect(String(UnicodeScalar(sample.state)) == letter)
  }

  @Test func anyStateHasALetter() throws {
    for bit in 0..<32 {
      for exitBit in 0..<32 {
        let sample = try thread { ($0.state, $0.exit_state) = (1 << UInt32(bit), 1 << UInt32(exitBit)) }
        #expect(sample.state != 0)
      }
    }
  }

  @Test func freezers() throws {
    #expect(
      try sample { ($0.thread.state, $0.job_control, $0.thread.is_off_processor) = (0x2001, 1 << 23, 1) }
        .isFrozen)
    #expect(try sample { ($0.thread.state, $0.thread.is_off_processor) = (0x8000, 1) }.isFrozen)
    // In disk wait it has not come to the trap yet.
    #expect(
      try !sample { ($0.thread.state, $0.job_control, $0.thread.is_off_processor) = (2, 1 << 23, 1) }.isFrozen
    )
  }

  @Test func threadsOfTheKernel() throws {
    #expect(try thread { $0.flags = 0x10 }.isKernelThread)
    #expect(try thread { $0.flags = 0x4000 }.isKernelThread)
    #expect(try !thread { $0.flags = 0x0040_0040 }.isKernelThread)
  }

  @Test func departureAndArrival() throws {
    func set(_ raw: inout clinux_task_sample) {
      (raw.run_time_at_arrival, raw.thread.run_time) = (50, 70)
      (raw.accounted_at, raw.processor_lag, raw.thread.is_off_processor) = (900, 125, 1)
    }
    #expect(try sample(set).departedAt == 1_025 && sample(set).runNanosecondsAtArrival == 50)
    func setUnknown(_ raw: inout clinux_task_sample) {
      set(&raw)
      // SCHED_FIFO does not keep the run time at arrival; a kernel without groups of threads has no lag to tell.
      (raw.policy, raw.processor_lag) = (1, clinux_task_lag_unknown)
    }
    #expect(try sample(setUnknown).departedAt == nil && sample(setUnknown).runNanosecondsAtArrival == nil)
    #expect(try sample { $0.processor_lag = 125 }.departedAt == nil)
  }

  @Test func clockIsTheLeastDistance() throws {
    var clock = SchedulerClock()
    #expect(clock.monotonicNanoseconds(of: 0) == nil)
    for (moment, arrival) in [(1_000, 890), (2_000, 1_900), (3_000, 2_500)] as [(UInt64, UInt64)] {
      clock.learn(from: try sample { ($0.moment, $0.reader_arrived_at) = (moment, arrival) })
    }
    #expect(clock.monotonicNanoseconds(of: 5_000) == 5_100)
    // After a while the older distances count no more: the clocks drift.
    for moment in [12_000_000_000, 24_000_000_000] as [UInt64] {
      clock.learn(from: try sample { ($0.moment, $0.reader_arrived_at) = (moment, moment - 200) })
    }
    #expect(clock.monotonicNanoseconds(of: 5_000) == 5_200)
  }

  @Test func halfASampleIsNone() {
    let bytes = [UInt8](repeating: 0, count: ThreadSample.byteCount - 1)
    #expect(
      unsafe ThreadSample(bytes.span.bytes, at: 0) == nil && ThreadSample(bytes.span.bytes, at: -1) == nil)
  }
}
