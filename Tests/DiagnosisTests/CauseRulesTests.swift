// The rules alone: made-up evidence in, causes out.

import Diagnosis
import StallCore
import Testing

@Suite struct CauseRulesTests {
  private func blocked(_ number: Int, _ first: UInt64 = 0, second: UInt64 = 0, third: UInt64 = 0) -> Activity
  {
    .blocked(
      BlockedCall(
        number: number, arguments: InlineArguments(first, second, third), stackPointer: 1, programCounter: 2))
  }

  private func cause(
    _ activity: Activity, state: ThreadState = .sleeping, link: String? = nil, channel: String? = nil,
    stallClass: StallClass? = .blocked, userShare: Double? = nil, functions: [ByteString] = []
  ) -> Cause {
    var evidence = Evidence(
      threadID: 7, state: state, activity: activity, stallClass: stallClass, userShare: userShare,
      functions: functions)
    evidence.descriptor = link.map { DescriptorLink(number: 17, text: ByteString($0)) }
    evidence.waitChannel = channel.map { ByteString($0) }
    return CauseRules.cause(of: evidence)
  }

  @Test func tellsKindsOfComputing() {
    #expect(cause(.running, state: .running, stallClass: .cpu, userShare: 0.9).kind == .userCPU)
    #expect(cause(.running, state: .running, stallClass: .cpu, userShare: 0.1).kind == .kernelCPU)
    #expect(cause(.running, state: .running, stallClass: .cpu).kind == .userCPU)
    #expect(cause(.running, state: .running, stallClass: .starved).kind == .starved)
    // It mostly computed, whatever it is blocked in at this moment.
    #expect(cause(blocked(SystemCallNumber.read), stallClass: .cpu).kind == .userCPU)
    let parse = cause(.running, stallClass: .cpu, userShare: 1, functions: ["parse(int)"])
    #expect(parse.summary == "computing in parse(int)")
    #expect(parse.confidence == .high)
  }

  @Test(arguments: [
    ("pipe:[1]", CauseKind.pipe), ("socket:[1]", .networkReceive), ("/dev/pts/3", .terminal),
    ("/dev/tty", .terminal),
    ("/mnt/nfs/report.csv", .disk), ("/dev/input/event0", .device), ("anon_inode:[eventfd]", .otherLoop),
    ("anon_inode:[timerfd]", .otherLoop), ("anon_inode:inotify", .otherLoop), ("/memfd:x (deleted)", .disk),
  ])
  func readIsJudgedByItsDescriptor(link: String, kind: CauseKind) {
    #expect(cause(blocked(SystemCallNumber.read, 17), link: link).kind == kind)
  }

  @Test func readOfAFileThatDoesNotAnswer() {
    let found = cause(
      blocked(SystemCallNumber.read, 17), state: .uninterruptible, link: "/mnt/nfs/report.csv",
      channel: "folio_wait_bit")
    #expect(found.kind == .disk)
    #expect(found.summary == "reading /mnt/nfs/report.csv: read(17)")
    #expect(found.confidence == .high)
    #expect(
      found.evidence == [
        "blocked in read(17)", "descriptor 17 is /mnt/nfs/report.csv", "state D, which cannot be interrupted",
        "sleeps in the kernel's folio_wait_bit",
      ])
  }

  @Test func namedPipesAreToldByTheWaitChannel() {
    #expect(
      cause(blocked(SystemCallNumber.read, 17), link: "/tmp/fifo", channel: "anon_pipe_read").kind == .pipe)
    #expect(cause(blocked(SystemCallNumber.openat), channel: "wait_for_partner").kind == .pipe)
  }

  @Test(arguments: [
    (SystemCallNumber.connect, CauseKind.networkConnect), (SystemCallNumber.accept4, .networkReceive),
    (SystemCallNumber.sendmsg, .networkSend), (SystemCallNumber.fsync, .disk),
    (SystemCallNumber.syncfs, .disk),
    (SystemCallNumber.waitid, .child), (SystemCallNumber.nanosleep, .sleep),
    (SystemCallNumber.epollPwait, .otherLoop),
    (SystemCallNumber.semop, .semaphore), (SystemCallNumber.flock, .mutex),
    (SystemCallNumber.rtSigsuspend, .unknown),
    (SystemCallNumber.futex, .condition), (9999, .unknown),
  ])
  func systemCallsHaveTheirKinds(number: Int, kind: CauseKind) {
    #expect(cause(blocked(number)).kind == kind)
  }

  @Test func pollIsJudgedByItsOnlyDescriptor() {
    let poll = blocked(SystemCallNumber.poll, 0x1000, second: 1, third: .max)
    #expect(cause(poll, link: "socket:[9]").kind == .networkReceive)
    #expect(cause(poll, link: "anon_inode:[eventpoll]").kind == .otherLoop)
    #expect(cause(poll).kind == .otherLoop)
    #expect(cause(blocked(SystemCallNumber.poll, 0, second: 0, third: 100)).kind == .sleep)
  }

  @Test(arguments: [
    ("hrtimer_nanosleep", CauseKind.sleep), ("futex_wait_queue", .condition),
    ("do_poll.constprop.0", .otherLoop),
    ("something", .unknown),
  ])
  func aCallTakenUpAgainIsToldByTheWaitChannel(channel: String, kind: CauseKind) {
    #expect(
      cause(blocked(SystemCallNumber.restartSyscall, 0x1000, second: 3, third: 5), channel: channel).kind
        == kind)
  }

  @Test func withoutSystemCallTheWaitChannelTellsTheKindOnly() {
    let found = cause(.unknown, channel: "pipe_read")
    #expect(found.kind == .pipe)
    #expect(found.confidence == .low)
    #expect(cause(.unknown).kind == .unknown)
    #expect(cause(.unknown, state: .uninterruptible).kind == .disk)
    let fault = Activity.blockedOutsideCall(stackPointer: 1, programCounter: 2)
    #expect(cause(fault, state: .uninterruptible).kind == .pageFault)
    #expect(cause(fault, state: .uninterruptible).confidence == .high)
  }

  @Test func bytesOfTheTargetAreEscaped() {
    let found = cause(blocked(SystemCallNumber.read, 17), link: "/tmp/\u{1B}[31m", functions: ["\u{1B}"])
    #expect(!(found.summary + found.evidence.joined()).unicodeScalars.contains("\u{1B}"))
  }
}
