// The per-thread files of /proc: real text, hostile names, and text that is cut anywhere.

import Glibc
import Linux
import Testing

private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
private func stat(_ text: [UInt8]) -> ThreadStat? { ThreadStat(text.span) }
private func statistics(_ text: [UInt8]) -> SchedulerStatistics? { SchedulerStatistics(text.span) }
private func detail(_ text: [UInt8]) -> SchedulerDetail? { SchedulerDetail(text.span) }
private func size(_ text: [UInt8]) -> MemorySize? { MemorySize(text.span) }
private func record(_ text: [UInt8]) -> SystemCallRecord? { SystemCallRecord(text.span) }

@Suite struct ThreadStatTests {
  private static let rest =
    " S 41 42 42 34816 42 4194304 950 0 7 0 12 3 0 0 20 0 5 0 2913 6217728 236 18446744073709551615 94046 94066 140720 0"
    + " 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 94074 94075 94095 140720 140720 140720 140720 0\n"

  @Test(
    "PROC-01: a name may hold blanks, parentheses and any bytes",
    arguments: [
      bytes("cat"), bytes("a) R 1 2"), bytes(") Z 0 ("), bytes("tmux: server"), bytes("(sd-pam)"),
      bytes("nl\nname"),
      [0xFF, 0xFE, 0x20, 0xC3], [], bytes("))))))))"), bytes("x) S 1 1 1 1 1"),
    ])
  func nameMayHoldAnything(_ name: [UInt8]) throws {
    let text = bytes("42 (") + name + bytes(")" + Self.rest)
    let parsed = try #require(stat(text))
    #expect(Array(text[parsed.name]) == name)
    #expect(parsed.state == UInt8(ascii: "S"))
    #expect(parsed.parent == 41 && parsed.processGroup == 42)
    #expect(parsed.majorFaults == 7 && parsed.userTicks == 12 && parsed.systemTicks == 3)
    #expect(parsed.threads == 5 && parsed.startTicks == 2913 && parsed.processor == 1)
    #expect(parsed.image == ImageMark(codeStart: 94046, codeEnd: 94066, stackStart: 140720))
    #expect(!parsed.isKernelThread)
  }

  @Test func negativeNumbersAreRead() throws {
    let text = bytes(
      "1 (x) R -1 -1 0 -1 0 69238880 0 0 0 0 0 0 0 0 20 0 1 0 9 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 -1 3 0\n")
    let parsed = try #require(stat(text))
    #expect(parsed.parent == -1 && parsed.isKernelThread && parsed.processor == 3)
  }

  @Test func cutTextIsRefusedAndNeverTraps() {
    let text = bytes("42 (a) b)" + Self.rest)
    for length in 0..<text.count { _ = ThreadStat(text.span.extracting(first: length)) }
    #expect(stat(Array(text.prefix(100))) == nil)
    #expect(stat(bytes("")) == nil)
    #expect(stat(bytes("42 (a")) == nil)
    #expect(stat(bytes("42 a) S 1")) == nil)
    #expect(stat(bytes("1 (x) S 99999999999999999999999 1")) == nil)
  }
}

@Suite struct SchedulerTests {
  @Test func statisticsAreThreeNumbers() throws {
    let counts = try #require(statistics(bytes("1662679 48210 17\n")))
    #expect(counts.runNanoseconds == 1_662_679)
    #expect(counts.runQueueDelayNanoseconds == 48_210)
    #expect(counts.timesScheduled == 17)
    #expect(statistics(bytes("1 2\n")) == nil)
    #expect(statistics(bytes("")) == nil)
  }

  private static func text(name: String) -> [UInt8] {
    bytes(
      "\(name) (1544, #threads: 1)\n" + String(repeating: "-", count: 67) + "\n"
        + "se.exec_start                                :        319528.452113\n"
        + "se.vruntime                                  :           453.553876\n"
        + "se.sum_exec_runtime                          :             1.297322\n"
        + "nr_switches                                  :                    9\n"
        + "nr_voluntary_switches                        :                    7\n"
        + "nr_involuntary_switches                      :                    2\n")
  }

  /// The header shows the name as it is: fifteen bytes that may look like a line of the kernel's.
  @Test(arguments: ["cat", "\nse.exec_start:", "\n-------------", "x\nnr_voluntary", ""])
  func detailIsTheKernelsOwn(_ name: String) throws {
    let parsed = try #require(detail(Self.text(name: name)))
    #expect(parsed.accountedAtNanoseconds == 319_528_452_113)
    #expect(parsed.voluntarySwitches == 7 && parsed.involuntarySwitches == 2)
  }

  @Test func cutDetailNeverTraps() {
    let text = Self.text(name: "cat")
    for length in 0..<text.count { _ = SchedulerDetail(text.span.extracting(first: length)) }
    #expect(detail(bytes("cat (1, #threads: 1)\n")) == nil)
  }
}

@Suite struct SystemCallRecordTests {
  @Test func blockedCall() {
    let text = bytes("232 0x5 0x7ffd1c2b 0x400 0xffffffffffffffff 0x0 0x0 0x7ffd1c2b3a58 0x7f3b5c1234ab\n")
    #expect(
      record(text)
        == .call(
          number: 232, arguments: [5, 0x7FFD_1C2B, 0x400, .max, 0, 0], stackPointer: 0x7FFD_1C2B_3A58,
          programCounter: 0x7F3B_5C12_34AB))
  }

  @Test func runningAndOutside() {
    #expect(record(bytes("running\n")) == .running)
    #expect(
      record(bytes("-1 0x7ffd 0x55aa\n"))
        == .outsideCall(stackPointer: 0x7FFD, programCounter: 0x55AA))
  }

  @Test(arguments: [
    "", "\n", "-1", "-1 0x1", "232 0x5", "99999999999 0 0 0 0 0 0 0 0", "x", "0 g 0 0 0 0 0 0 0",
  ])
  func anythingElseIsRefused(_ text: String) {
    #expect(record(bytes(text)) == nil)
  }
}

@Suite struct ProcessStatusTests {
  @Test func linesThatAreUsed() {
    let status = ProcessStatus(
      bytes(
        """
        Name:\ta\\nTgid:\t1
        Tgid:\t4711
        Pid:\t4712
        TracerPid:\t99
        Uid:\t1000\t1000\t1000\t1000
        NSpid:\t4712\t17\t3
        CoreDumping:\t1
        CapEff:\t000001ffffffffff
        Seccomp:\t2
        nonvoluntary_ctxt_switches:\t8
        voluntary_ctxt_switches:\t150

        """
      ).span)
    #expect(status.threadGroup == 4711 && status.tracer == 99 && status.userID == 1000)
    #expect(status.innermostID == 3 && status.isDumpingCore && status.seccompMode == 2)
    #expect(status.effectiveCapabilities == 0x1FF_FFFF_FFFF && status.voluntarySwitches == 150)
  }

  @Test func emptyTextTellsNothing() {
    let status = ProcessStatus(bytes("").span)
    #expect(status.threadGroup == nil && status.tracer == nil && !status.isDumpingCore)
  }
}

@Suite struct MemorySizeTests {
  @Test func twoNumbersOfPagesAreRead() throws {
    let whole = try #require(size(bytes("5120 1280 640 1 0 300 0\n")))
    #expect(whole.virtualBytes == 5120 * 4096 && whole.residentBytes == 1280 * 4096)
    #expect(size(bytes("")) == nil && size(bytes("5120")) == nil)
  }

  @Test func aThreadSeesWhatItsProcessHas() throws {
    let process = getpid()
    let own = try MemorySize(process: process)
    let seen = try MemorySize(process: process, thread: process)
    #expect(own.virtualBytes >= own.residentBytes && own.residentBytes > 0 && seen.residentBytes > 0)
    #expect(throws: Errno.noSuchFile) { _ = try MemorySize(process: process, thread: 1 << 30) }
  }
}
