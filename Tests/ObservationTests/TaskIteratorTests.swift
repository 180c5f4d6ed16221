// Reads real threads through the task iterator, and compares with what ptrace and `/proc` say of them.

import Glibc
import Linux
import Observation
import TestSupport
import Testing

@Suite(.enabled(if: isTaskIteratorExpected, "the task iterator needs root, Linux 5.15 and its types"))
struct TaskIteratorTests {
  /// All of what one read gives.
  private func samples(_ iterator: inout TaskIterator) throws(Errno) -> [Int32: ThreadSample] {
    var all: [Int32: ThreadSample] = [:]
    try iterator.read { all[$0.threadID] = $0 }
    return all
  }

  private func blockedSample(_ sampler: inout TaskSampler) throws -> TaskSample {
    for _ in 0..<5_000 {
      if let sample = try sampler.sample(), sample.thread.isOffProcessor, !sample.thread.isRunnable {
        return sample
      }
      usleep(1_000)
    }
    throw Errno.timedOut
  }

  private static let compared: [KernelRegisters.Word] = [
    .r15, .r14, .r13, .r12, .rbp, .rbx, .r10, .r9, .r8, .rdx, .rsi, .rdi, .originalRax, .rip, .rsp,
  ]

  @Test(arguments: ["epoll", "poll", "pause", "condition"])
  func registersAreThosePtraceSees(_ kind: String) throws {
    let target = try TargetProcess.start("idle", kind)
    var sampler = try TaskProgram(process: target.processID).sampler(of: target.processID)
    let sample = try blockedSample(&sampler)
    try Ptrace.seize(target.processID)
    try Ptrace.interrupt(target.processID)
    #expect(try Ptrace.waitForStop(target.processID) == .interrupt)
    let expected = try Ptrace.registers(of: target.processID)
    try Ptrace.detach(target.processID, signal: 0)
    for word in Self.compared { #expect(sample.thread.registers[word] == expected[word], "\(word)") }
    #expect(sample.thread.registers[.rsp] != 0 && sample.thread.isWide)
  }

  @Test func countsAreThoseOfProc() throws {
    let target = try TargetProcess.start("idle", "epoll")
    let directory = "/proc/\(target.processID)/task/\(target.processID)/"
    var sampler = try TaskProgram(process: target.processID).sampler(of: target.processID)
    let sample = try blockedSample(&sampler)
    let schedule = try readPseudoFile(directory + "schedstat")
    let details = try readPseudoFile(directory + "sched")
    let record = try readPseudoFile(directory + "stat")
    let statistics = SchedulerStatistics(schedule.span)
    #expect(statistics?.timesScheduled == sample.thread.timesScheduled)
    #expect(statistics?.runNanoseconds == sample.thread.runNanoseconds)
    #expect(statistics?.runQueueDelayNanoseconds == sample.runQueueDelayNanoseconds)
    let detail = SchedulerDetail(details.span)
    #expect(detail?.voluntarySwitches == sample.voluntarySwitches)
    #expect(detail?.involuntarySwitches == sample.involuntarySwitches)
    let parsed = ThreadStat(record.span)
    let stat = try #require(parsed)
    #expect(stat.state == sample.thread.state && stat.startTicks == sample.startTicks)
    #expect(stat.image == sample.image && stat.majorFaults == sample.majorFaults)
    #expect(sample.thread.withName { $0.count == 10 && $0.matches("TestTarget", at: 0) })
    #expect(sample.thread.processID == target.processID && sample.thread.threadID == target.processID)
  }

  @Test func runningThreadIsNoStandingOne() throws {
    let target = try TargetProcess.start("spin")
    var sampler = try TaskProgram(process: target.processID).sampler(of: target.processID)
    let sample = try #require(try sampler.sample())
    #expect(sample.thread.isRunnable && sample.thread.state == UInt8(ascii: "R"))
  }

  @Test(arguments: [true, false]) func filtersInTheKernelAndInTheProgram(_ inKernel: Bool) throws {
    let target = try TargetProcess.start("thread-pool")
    let threads = Set(try ThreadList.threads(of: target.processID))
    let program = try TaskProgram(process: target.processID)
    var all = try program.iterator(limitsInKernel: inKernel)
    #expect(try Set(samples(&all).keys) == threads && threads.count > 1)
    for thread in threads {
      var one = try program.sampler(of: thread, limitsInKernel: inKernel)
      for _ in 0..<3 { #expect(try one.sample()?.thread.threadID == thread) }
    }
    #expect(try Set(samples(&all).keys) == threads)
  }

  @Test func tellsOfEveryThreadOfMany() throws {
    let target = try TargetProcess.start("parked-crowd", "2000")
    var iterator = try TaskIterator(process: target.processID)
    #expect(try Set(samples(&iterator).keys) == Set(ThreadList.threads(of: target.processID)))
  }

  @Test("PROC-04: a process of another pid namespace is told by our ids")
  func nestedNamespace() throws {
    var launcher = try TargetProcess(
      path: "/usr/bin/unshare",
      arguments: ["--pid", "--fork", "--kill-child", builtProduct("TestTarget"), "idle", "pause"])
    #expect(try launcher.readLine() == "ready")
    let children = try readPseudoFile("/proc/\(launcher.processID)/task/\(launcher.processID)/children")
    var position = 0
    let child = Int32(truncatingIfNeeded: children.span.decimal(at: &position) ?? 0)
    var sampler = try TaskProgram(process: child).sampler(of: child)
    let found = try sampler.sample()
    let sample = try #require(found)
    #expect(sample.thread.processID == child && sample.thread.threadID == child)
  }

  @Test("PROC-04: who reads from within a pid namespace is told by the ids in there")
  func readerInNestedNamespace() throws {
    let reader = "\(builtProduct("TestSandbox")) iterator; true"
    var launcher = try TargetProcess(
      path: "/usr/bin/unshare", arguments: ["--pid", "--fork", "--kill-child", "/bin/sh", "-c", reader])
    #expect(try launcher.readLine() == "loaded")
    #expect(try launcher.readLine() == "threads 1")
  }

  @Test("PROC-03: threads that begin and end during reads are no error") func churn() throws {
    let target = try TargetProcess.start("thread-churn")
    var iterator = try TaskIterator(process: target.processID)
    for _ in 0..<1_000 {
      let all = try samples(&iterator)
      #expect(all[target.processID] != nil && all.values.allSatisfy { $0.processID == target.processID })
    }
  }

  @Test("PROC-03: nothing is told of a process that has ended") func endedProcess() throws {
    var target = try TargetProcess.start("idle", "pause")
    let program = try TaskProgram(process: target.processID)
    var all = try program.iterator()
    var one = try program.sampler(of: target.processID)
    var unlimited = try program.sampler(of: target.processID, limitsInKernel: false)
    #expect(try one.sample() != nil && unlimited.sample() != nil)
    target.signal(SIGKILL)
    _ = try target.waitForExit()
    #expect(try samples(&all).isEmpty)
    // Not even of the thread that a walk had stayed at.
    for _ in 0..<2 { #expect(try one.sample() == nil && unlimited.sample() == nil) }
  }

  /// Takes interrupts for as long as it lives, so that some reads are long.
  private func takeInterrupts() throws -> PerfEvent {
    var layout = PerfSampleLayout(userRegisters: [])
    layout.includesKernel = true
    let event = try PerfEvent(
      PerfEventAttributes(.processorTime(nanoseconds: 50_000), samples: layout), thread: 0, dataPages: 1)
    try event.enable()
    return event
  }

  /// Four breakpoints of the thread that computes are switched off between the moment at which the other is counted and
  /// that at which it is marked as running.
  @Test(.enabled(if: isKernelShown && isBreakpointAllowed, "this machine does not allow the perf events"))
  func whatStoodStillDidSoForTheWholeRead() throws {
    let target = try TargetProcess.start("counted-sleeps")
    let threads = try ThreadList.threads(of: target.processID)
    let computing = try #require(threads.first { $0 != target.processID })
    let first = try ExecutionBreakpoint(thread: computing, address: 0x1000, fires: 1)
    let second = try ExecutionBreakpoint(thread: computing, address: 0x2000, fires: 1)
    let third = try ExecutionBreakpoint(thread: computing, address: 0x3000, fires: 1)
    let fourth = try ExecutionBreakpoint(thread: computing, address: 0x4000, fires: 1)
    let interrupts = try takeInterrupts()
    var sampler = try TaskProgram(process: target.processID).sampler(of: target.processID)
    var last: TaskSample?
    var torn = 0
    for _ in 0..<500_000 {
      guard let sample = try sampler.sample(), sample.thread.isOffProcessor else { continue }
      if let last, !last.isOfSameBlock(as: sample) { torn += 1 }
      last = sample
    }
    // One in five million sees the stores of an arrival half done; by the mark of a running thread alone it is one in 70.
    #expect(torn < 10)
    #expect(last != nil && !interrupts.hasEnded)
    #expect(!first.hasEnded && !second.hasEnded && !third.hasEnded && !fourth.hasEnded)
  }

  @Test func eachLookIsOfNow() throws {
    let target = try TargetProcess.start("spin")
    var sampler = try TaskProgram(process: target.processID).sampler(of: target.processID)
    let first = try #require(try sampler.sample())
    #expect(
      try eventually {
        guard let later = try sampler.sample() else { return false }
        return later.atNanoseconds > first.atNanoseconds
          && later.thread.runNanoseconds > first.thread.runNanoseconds
      })
  }

  @Test func staysWithDescriptorsAlone() throws {
    let target = try TargetProcess.start("idle", "pause")
    let before = try openDescriptors()
    do {
      let program = try TaskProgram(process: target.processID)
      #expect(try openDescriptors() == before + 1)
      var iterator = try program.iterator()
      var sampler = try program.sampler(of: target.processID)
      #expect(try openDescriptors() == before + 4)
      for _ in 0..<100 { #expect(try samples(&iterator).count == 1 && sampler.sample() != nil) }
      #expect(try openDescriptors() == before + 4)
    }
    #expect(try openDescriptors() == before)
  }

  private func openDescriptors() throws -> Int {
    guard let directory = unsafe opendir("/proc/self/fd") else { throw Errno.noSuchFile }
    defer { unsafe closedir(directory) }
    var count = 0
    while unsafe readdir(directory) != nil { count += 1 }
    return count
  }

  @Test(
    "PERM-04: what is missing is named",
    arguments: [
      ("--bounding-set -all --inh-caps -all", "it needs CAP_BPF and CAP_PERFMON"),
      ("--reuid 65534 --regid 65534 --clear-groups", "it needs CAP_BPF and CAP_PERFMON"),
      ("--bounding-set -bpf,-sys_admin", "it needs CAP_BPF"),
      ("--bounding-set -perfmon,-sys_admin", "it needs CAP_PERFMON"),
      ("--bounding-set -all,+bpf,+perfmon", "loaded"), ("--bounding-set -bpf,-perfmon", "loaded"),
      ("--reuid 65534 --clear-groups --inh-caps +bpf,+perfmon --ambient-caps +bpf,+perfmon", "loaded"),
    ])
  func loadsWithTheseTwoRights(_ change: String, _ answer: String) throws {
    let loss = change.split(separator: " ").map(String.init)
    var helper = try TargetProcess(
      path: "/usr/bin/setpriv", arguments: loss + [builtProduct("TestSandbox"), "iterator"])
    #expect(try helper.readLine() == answer)
  }
}

extension TaskSample {
  /// What the count of arrivals proves: both are of one block, or the thread was put on a CPU in between.
  fileprivate func isOfSameBlock(as other: TaskSample) -> Bool {
    thread.timesScheduled != other.thread.timesScheduled
      || voluntarySwitches == other.voluntarySwitches && involuntarySwitches == other.involuntarySwitches
        && thread.registers[.r9] == other.thread.registers[.r9]
  }
}
