// What is seen with the capabilities of the task iterator alone, with those that are missing, and what is said of it.

import FoundationEssentials
import Glibc
import Linux
import TestSupport
import Testing

@Suite(
  .serialized,
  .enabled(
    if: RightsLab.isPossible && isTaskIteratorExpected, "needs root, mounts of its own, the task iterator"))
struct IteratorRightsTests {
  @Test(
    "without the iterator's capabilities the watch goes through /proc, and the missing ones are named",
    arguments: [
      (.rootWithoutBPF, "it needs CAP_BPF"),
      (.rootWithoutPerfmon, "it needs CAP_PERFMON"),
    ] as [(Person, String)])
  func procWithoutTheseRights(_ person: Person, _ missing: String) throws {
    let lab = try RightsLab()
    let target = try lab.start("stalling-loop epoll sleep", as: .nobody)
    var watch = try WatchRun(
      shell: lab.command("--json --observer bpf --pid \(target.processID)", as: person))
    let attach = try watch.next("attach")
    #expect(attach["observer"] == .string("proc"))
    #expect(attach.missing.hasPrefix("the task iterator") && attach.missing.hasSuffix(": \(missing)"))
    target.signal(SIGUSR1)
    let ended = try watch.next("stall", state: "ended")
    #expect(ended["verified"] == .boolean(true) && ended.symbols.contains("stall_by_sleeping"))
  }

  @Test("PERM-04: root without any is told of both") func withoutAnyCapability() throws {
    let lab = try RightsLab()
    let target = try lab.start("idle epoll", as: .root)
    var watch = try WatchRun(
      shell: lab.command("--json --observer bpf --pid \(target.processID)", as: .rootWithoutCapabilities))
    let attach = try watch.next("attach")
    #expect(attach["observer"] == .string("proc-states"))
    #expect(attach.missing.contains("root without CAP_SYS_PTRACE"))
    #expect(attach.missing.contains(": it needs CAP_BPF and CAP_PERFMON"))
  }

  @Test(
    "waits of any program are seen without the right to its memory, and that the stacks are missing is told",
    arguments: [
      (.rootWithIterator, .nobody, "you are root without CAP_SYS_PTRACE"),
      (.nobodyWithIterator, .root, "it belongs to root and you are"),
      (.nobodyWithIterator, .somebody, "it belongs to user 65533 and you are"),
    ] as [(Person, Person, String)])
  func iteratorAlone(_ person: Person, _ owner: Person, _ why: String) throws {
    let lab = try RightsLab()
    let target = try lab.start("stalling-loop epoll sleep", as: owner)
    var watch = try WatchRun(
      shell: lab.command("--json --observer bpf --pid \(target.processID)", as: person))
    let attach = try watch.next("attach")
    #expect(attach["observer"] == .string("bpf") && attach["capture_ways"] == .array([.string("perf")]))
    #expect(attach.missing.contains("stacks of blocked threads") && attach.missing.contains(why))
    target.signal(SIGUSR1)
    let ended = try watch.next("stall", state: "ended")
    let cause = ended["cause"]?.object["kind"]
    #expect(ended["verified"] == .boolean(true) && cause == .string("wait.sleep"), "\(ended)")
    #expect(ended.missingStack?.contains("may not be looked into") == true)
  }

  @Test("root that may read memory, and not every file in /proc, has the stacks of blocked threads")
  func iteratorAndMemoryWithoutFilesOfOthers() throws {
    let lab = try RightsLab()
    let target = try lab.start("stalling-loop epoll sleep", as: .nobody)
    var watch = try WatchRun(
      shell: lab.command("--json --observer bpf --pid \(target.processID)", as: .rootWithoutFilesOfOthers))
    let attach = try watch.next("attach")
    #expect(attach["observer"] == .string("bpf"))
    #expect(attach["capture_ways"]?.array.first == .string("task-iterator"))
    target.signal(SIGUSR1)
    let ended = try watch.next("stall", state: "ended")
    #expect(ended["verified"] == .boolean(true) && ended.missingStack == nil)
    #expect(ended.symbols.contains("stall_by_sleeping"))
  }

  @Test(
    "a thread that runs is sampled without the right to its memory",
    .enabled(if: isSamplingAllowed, "needs perf events"),
    arguments: [(.rootWithIterator, .nobody), (.nobodyWithIterator, .root)] as [(Person, Person)])
  func runningThreadIsSampled(_ person: Person, _ owner: Person) throws {
    let lab = try RightsLab()
    let target = try lab.start("spin", as: owner)
    var watch = try WatchRun(
      shell: lab.command(
        "--json --observer bpf --cpu-window 300ms --cpu-threshold 2 --pid \(target.processID)", as: person))
    let busy = try watch.next("cpu")
    #expect(busy["stacks"]?.array.first?.object["captured"] == .string("perf"), "\(busy)")
  }

  @Test("with CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH nothing is missing") func iteratorAndMemory() throws {
    let lab = try RightsLab()
    let target = try lab.start("stalling-loop poll sleep", as: .nobody)
    var watch = try WatchRun(
      shell: lab.command("--json --observer bpf --pid \(target.processID)", as: .rootWithIteratorAndMemory))
    let attach = try watch.next("attach")
    #expect(attach["observer"] == .string("bpf") && attach.missing == "")
    target.signal(SIGUSR1)
    let ended = try watch.next("stall", state: "ended")
    #expect(ended["verified"] == .boolean(true) && ended.symbols.contains("stall_by_sleeping"))
  }

  /// With rights of his own a caller sees what his capabilities let him see.
  @Test func rightsOfTheCallerAreNotCutDown() throws {
    let lab = try RightsLab()
    let target = try lab.start("protected idle epoll", as: .somebody)
    let (output, _) = try shell(
      "\(Person.nobodyWithIterator.rawValue) \(lab.reader) iterator \(target.processID)")
    #expect(output.contains("threads \(target.processID)"), "\(output)")
  }
}
