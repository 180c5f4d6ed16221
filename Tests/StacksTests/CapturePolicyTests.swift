// Which ways of capturing are allowed for which thread.

import StallCore
import Testing

@testable import Stacks

@Suite struct CapturePolicyTests {
  typealias Call = SystemCallNumber

  static func thread(_ state: Character, _ call: SystemCallState) -> CaptureConditions {
    CaptureConditions(state: state.asciiValue ?? 0, systemCall: call)
  }

  static func blocked(in number: Int, on kind: DescriptorKind = .unknown) -> CaptureConditions {
    var conditions = thread("S", .inside(number: number))
    conditions.descriptorKind = kind
    return conditions
  }

  @Test(arguments: [
    Call.poll, Call.ppoll, Call.select, Call.futex, Call.nanosleep, Call.clockNanosleep, Call.wait4,
    Call.restartSyscall, Call.rtSigsuspend, Call.msgrcv, Call.flock,
  ])
  func stopsThreadsInCallsThatRestart(number: Int) {
    let plan = CapturePolicy.plan(Self.blocked(in: number), CaptureRules())
    #expect(plan == CapturePlan(ways: [.ptrace, .syscallFile], reasonNotToStop: nil))
  }

  @Test(arguments: [
    Call.epollWait, Call.epollPwait, Call.epollPwait2, Call.semop, Call.semtimedop, Call.rtSigtimedwait,
    Call.ioGetevents, Call.ioPgetevents, Call.ioUringEnter, Call.write, Call.writev, Call.pwrite64,
    Call.sendto, Call.sendmsg, Call.sendfile, Call.splice, Call.tee, Call.vmsplice, Call.copyFileRange,
    Call.connect, Call.accept, Call.recvfrom, Call.recvmsg, 16 /* ioctl */, 3 /* close */, -7, 100_000,
  ])
  func neverStopsThreadsInCallsThatWouldNotice(number: Int) {
    let plan = CapturePolicy.plan(Self.blocked(in: number), CaptureRules(isDump: true))
    #expect(plan == CapturePlan(ways: [.syscallFile], reasonNotToStop: .inFragileCall(number: number)))
  }

  @Test(arguments: [(DescriptorKind.other, true), (.socket, false), (.unknown, false)])
  func stopsReadersOnlyIfTheyDoNotReadASocket(kind: DescriptorKind, isStopped: Bool) {
    let plan = CapturePolicy.plan(Self.blocked(in: Call.read, on: kind), CaptureRules())
    #expect(plan.ways.contains(.ptrace) == isStopped)
  }

  @Test(arguments: [
    (Character("D"), false, CaptureFailure.uninterruptible), ("T", false, .stoppedBySignal), ("T", true, nil),
    ("t", true, .uninterruptible), ("S", false, nil), ("I", true, .uninterruptible),
  ])
  func obeysState(state: Character, isDump: Bool, reason: CaptureFailure?) {
    let thread = Self.thread(state, .inside(number: Call.poll))
    let plan = CapturePolicy.plan(thread, CaptureRules(isDump: isDump))
    #expect(plan.reasonNotToStop == reason)
    #expect(plan.ways == (reason == nil ? [.ptrace, .syscallFile] : [.syscallFile]))
  }

  @Test func leavesHeldProcessesAlone() {
    var frozen = Self.blocked(in: Call.poll)
    frozen.isFrozen = true
    #expect(
      CapturePolicy.plan(frozen, CaptureRules(isDump: true))
        == CapturePlan(ways: [.syscallFile], reasonNotToStop: .frozen))
    var dumping = Self.blocked(in: Call.poll)
    dumping.isDumpingCore = true
    #expect(
      CapturePolicy.plan(dumping, CaptureRules(isDump: true))
        == CapturePlan(ways: [.syscallFile], reasonNotToStop: .dumpingCore))
    dumping.systemCall = .running
    #expect(
      CapturePolicy.plan(dumping, CaptureRules(isDump: true))
        == CapturePlan(ways: [], reasonNotToStop: .dumpingCore))
  }

  @Test func leavesTracedParkedDeadAndKernelThreadsAlone() {
    var traced = Self.thread("R", .running)
    traced.tracer = 77
    #expect(
      CapturePolicy.plan(traced, CaptureRules())
        == CapturePlan(ways: [.perf], reasonNotToStop: .traced(by: 77)))
    let parked = CapturePolicy.plan(Self.blocked(in: Call.poll), CaptureRules(isParked: true))
    #expect(parked == CapturePlan(ways: [.syscallFile], reasonNotToStop: .parked))
    let dead = CapturePolicy.plan(Self.thread("Z", .running), CaptureRules())
    #expect(dead == CapturePlan(ways: [], reasonNotToStop: .gone))
    var kernel = Self.thread("S", .running)
    kernel.isKernelThread = true
    #expect(
      CapturePolicy.plan(kernel, CaptureRules()) == CapturePlan(ways: [], reasonNotToStop: .kernelThread))
    var foreign = Self.thread("R", .running)
    foreign.isThirtyTwoBit = true
    #expect(
      CapturePolicy.plan(foreign, CaptureRules()) == CapturePlan(ways: [], reasonNotToStop: .thirtyTwoBit))
  }

  @Test func runningThreadNeedsPermissionToBeStopped() {
    let running = Self.thread("R", .running)
    #expect(CapturePolicy.plan(running, CaptureRules()).ways == [.perf, .ptrace])
    let suspect = CapturePolicy.plan(running, CaptureRules(mayStop: false))
    #expect(suspect == CapturePlan(ways: [.perf], reasonNotToStop: .running))
  }

  @Test(arguments: [
    (Call.epollWait, true), (Call.read, true), (Call.fallocate, true), (Call.poll, false), (3, false),
    (Call.openat, false),
  ])
  func startsAgainOnlyWhatIsSafeToRepeat(number: Int, mayStartAgain: Bool) {
    #expect(CapturePolicy.mayStartAgain(number) == mayStartAgain)
  }
}
