// What the doctor says under which rights: it has tried everything it says yes to.

import Glibc
import Linux
import TestSupport
import Testing

@Suite(.serialized, .enabled(if: RightsLab.isPossible, "needs root and mounts of its own"))
struct DoctorTests {
  /// The line of the table that speaks of this.
  private func line(_ what: String, in output: String) -> String? {
    output.split(separator: "\n").first { $0.contains(what) }.map(String.init)
  }

  private func examine(
    _ arguments: String = "", as person: Person, launcher: String = "", in lab: borrowing RightsLab
  ) throws -> (output: String, status: Linux.ExitStatus) {
    try shell(lab.command("doctor \(arguments) 2>&1", as: person, launcher: launcher))
  }

  @Test func rootMayDoEverything() throws {
    let lab = try RightsLab()
    let (output, status) = try examine(as: .root, in: lab)
    #expect(status == .exited(0), "\(output)")
    #expect(!output.contains("next:"))
    #expect(line("by a brief stop", in: output)?.contains("a child was held for") == true)
    #expect(line("blocked threads", in: output)?.hasSuffix(" yes") == true)
  }

  @Test func ordinaryUserIsToldWhatOthersNeed() throws {
    let lab = try RightsLab()
    let (output, status) = try examine(as: .nobody, in: lab)
    #expect(status == .exited(1))
    for what in ["your children", "your other programs", "by a brief stop", "memory", "functions"] {
      #expect(line(what, in: output)?.contains(" yes") == true, "\(output)")
    }
    #expect(line("programs of others", in: output)?.contains(" no ") == true)
    #expect(output.contains("\nnext: sudo stallwatch --pid PID\n"))
    guard isTaskIteratorExpected else { return }
    #expect(line("task iterator", in: output)?.contains("it needs CAP_BPF and CAP_PERFMON") == true)
    #expect(output.contains("\n  or: sudo setcap cap_bpf,cap_perfmon=ep \(lab.program)\n"))
    #expect(output.contains("nothing is shown of"))
  }

  @Test(
    "with these capabilities of its file, the task iterator is there and the rest is as before",
    .enabled(if: isTaskIteratorExpected, "needs the task iterator"))
  func capabilitiesOfTheFileGiveTheIterator() throws {
    let lab = try RightsLab()
    try lab.giveFilesCapabilities()
    let (output, status) = try examine(as: .nobody, in: lab)
    #expect(status == .exited(1))
    for what in ["your children", "your other programs", "task iterator", "blocked threads", "memory"] {
      #expect(line(what, in: output)?.contains(" yes") == true, "\(output)")
    }
    #expect(line("programs of others", in: output)?.contains(" no ") == true)
    #expect(!output.contains("setcap"))
  }

  @Test(
    "setcap is not named where it would not help",
    arguments: [
      "setpriv --no-new-privs --reuid 65534 --clear-groups",
      "setpriv --bounding-set -bpf --reuid 65534 --clear-groups",
      "setpriv --reuid 65534 --clear-groups unshare --user",
    ])
  func setcapThatWouldNotHelpIsNotNamed(_ change: String) throws {
    let lab = try RightsLab()
    let (output, _) = try examine(as: .root, launcher: change, in: lab)
    #expect(line("task iterator", in: output)?.contains(" no ") == true && !output.contains("setcap"))
  }

  @Test func filterOnPtraceCostsTheBriefStopOnly() throws {
    let lab = try RightsLab()
    let (output, status) = try examine(as: .root, launcher: "\(lab.targetProgram) deny ptrace 13", in: lab)
    #expect(status == .exited(1))
    #expect(line("by a brief stop", in: output)?.contains("seccomp filter") == true)
    #expect(line("from /proc", in: output)?.contains(" yes") == true)
  }

  @Test func filterOnPerfEventsCostsBreakpointAndSample() throws {
    let lab = try RightsLab()
    let (output, status) = try examine(
      as: .root, launcher: "\(lab.targetProgram) deny perf_event_open 13", in: lab)
    #expect(status == .exited(1))
    #expect(line("breakpoint", in: output)?.contains(" no ") == true, "\(output)")
    #expect(line("running threads", in: output)?.contains(" no ") == true, "\(output)")
    #expect(line("by a brief stop", in: output)?.contains(" yes") == true)
  }

  @Test func filterOnBPFCostsTheIterator() throws {
    let lab = try RightsLab()
    let (output, status) = try examine(as: .root, launcher: "\(lab.targetProgram) deny bpf 1", in: lab)
    #expect(status == .exited(1))
    for what in ["task iterator", "blocked threads"] {
      #expect(
        line(what, in: output)?.contains("refused in spite of CAP_BPF and CAP_PERFMON") == true, "\(output)")
    }
    #expect(line("by a brief stop", in: output)?.contains(" yes") == true)
  }

  @Test func otherWayToMemoryIsNamed() throws {
    let lab = try RightsLab()
    let launcher = "\(lab.targetProgram) deny process_vm_readv 1"
    let (output, status) = try examine(as: .root, launcher: launcher, in: lab)
    #expect(status == .exited(0))
    #expect(line("memory", in: output)?.contains("/proc/PID/mem") == true)
  }

  @Test func namedProcessIsExaminedToo() throws {
    let lab = try RightsLab()
    let own = try lab.start("idle pause", as: .root)
    let (seen, good) = try examine("--pid \(own.processID)", as: .root, in: lab)
    #expect(good == .exited(0))
    let way = isTaskIteratorExpected ? "by task-iterator" : "by ptrace"
    #expect(line("its stack", in: seen)?.contains(way) == true)
    let (refused, bad) = try examine("--pid \(own.processID)", as: .nobody, in: lab)
    #expect(bad == .exited(1))
    #expect(line("its waits", in: refused)?.contains("belongs to root") == true)
    #expect(refused.contains("\nnext: sudo stallwatch --pid \(own.processID)"))
  }

  /// Also the one that is nobody's child.
  @Test func nothingIsLeftBehind() throws {
    let lab = try RightsLab()
    _ = try examine(as: .root, in: lab)
    let isGone = try eventually {
      try shell("grep -l doctor-subjec[t] /proc/[0-9]*/cmdline 2>/dev/null").output.isEmpty
    }
    #expect(isGone)
  }
}
