// Where the rights for the task iterator come from the executable, nobody sees through it what he may not see without.

import FoundationEssentials
import Glibc
import Linux
import TestSupport
import Testing

@Suite(
  .serialized,
  .enabled(
    if: RightsLab.isPossible && isTaskIteratorExpected, "needs root, mounts of its own, the task iterator"))
struct FileRightsTests {
  /// What a reader saw of a process.
  private struct Reading {
    var threads: Set<Int32>
    var words: Set<String>
  }

  private static let secret = "5ec2e7"
  private static let open = "9e11"

  /// A lab whose programs have capabilities of their files.
  private func lab() throws -> RightsLab {
    let lab = try RightsLab()
    try lab.giveFilesCapabilities()
    return lab
  }

  private func read(
    _ process: Int32, as person: Person = .nobody, milliseconds: Int = 0, in lab: borrowing RightsLab
  ) throws -> Reading {
    let (output, _) = try shell("\(person.rawValue) \(lab.reader) iterator \(process) \(milliseconds)")
    let lines = output.split(separator: "\n")
    try #require(lines.count == 3 && lines[0] == "loaded", "\(output)")
    return Reading(
      threads: Set(lines[1].split(separator: " ").dropFirst().compactMap { Int32($0) }),
      words: Set(lines[2].split(separator: " ").dropFirst().map(String.init)))
  }

  @Test func ownProgramIsSeenByTheIterator() throws {
    let lab = try lab()
    let target = try lab.start("stalling-loop epoll sleep", as: .nobody)
    var watch = try WatchRun(
      shell: lab.command("--json --observer bpf --pid \(target.processID)", as: .nobody))
    let attach = try watch.next("attach")
    #expect(attach["observer"] == .string("bpf") && attach.missing == "")
    target.signal(SIGUSR1)
    let ended = try watch.next("stall", state: "ended")
    #expect(ended["verified"] == .boolean(true) && ended.symbols.contains("stall_by_sleeping"))
    for process in try family(of: watch.processID) {
      let status = try ProcessStatus(path: "/proc/\(process)/status")
      #expect(status.permittedCapabilities == 0 && status.effectiveCapabilities == 0)
    }
  }

  /// The watch, its helpers, and the analyst.
  private func family(of process: Int32) throws -> [Int32] {
    let text = try readPseudoFile("/proc/\(process)/task/\(process)/children")
    let children = String(decoding: text, as: UTF8.self).split(separator: " ").compactMap { Int32($0) }
    #expect(!children.isEmpty)
    return [process] + children
  }

  @Test(arguments: ["shows-word", "idle epoll", "thread-pool"])
  func readerSeesItsOwnPrograms(_ kind: String) throws {
    let lab = try lab()
    let target = try lab.start(kind, as: .nobody)
    let threads = Set(try ThreadList.threads(of: target.processID))
    #expect(try read(target.processID, in: lab).threads == threads)
  }

  @Test(
    "PERM-05: nothing is told of programs of others, protected ones, and those with rights of their own",
    arguments: [
      ("shows-secret", .root), ("shows-secret", .somebody), ("protected shows-secret", .nobody),
      ("shows-secret", .rootOfNamespace), ("shows-secret", .nobodyWithIterator),
    ] as [(String, Person)])
  func othersAreNotTold(_ kind: String, _ owner: Person) throws {
    let lab = try lab()
    let target = try lab.start(kind, as: owner)
    let reading = try read(target.processID, milliseconds: 100, in: lab)
    #expect(reading.threads.isEmpty && reading.words.isEmpty)
    // It is there to be seen.
    #expect(try read(target.processID, as: .root, milliseconds: 100, in: lab).words.contains(Self.secret))
  }

  @Test(
    arguments: [("idle epoll", .root), ("idle epoll", .somebody), ("protected idle epoll", .nobody)]
      as [(String, Person)])
  func dumpShowsNothingOfOthers(_ kind: String, _ owner: Person) throws {
    let lab = try lab()
    let target = try lab.start(kind, as: owner)
    let (output, status) = try shell(lab.command("dump --pid \(target.processID) 2>&1", as: .nobody))
    #expect(status == .exited(4) && output.contains("its stacks cannot be seen"), "\(output)")
  }

  /// CAP_PERFMON would let everybody sample registers and stacks of every thread.
  @Test(arguments: [("spin", .root), ("protected spin", .nobody)] as [(String, Person)])
  func nothingIsSampledWithTheRightsOfTheFile(_ kind: String, _ owner: Person) throws {
    let lab = try lab()
    let target = try lab.start(kind, as: owner)
    let attempt = "\(Person.nobody.rawValue) \(lab.reader) sampling \(target.processID)"
    #expect(try shell("\(attempt) as-caller").output == "sampling refused")
    #expect(try shell("\(attempt) with-rights-of-file").output == "sampling done")
  }

  @Test(arguments: [("idle epoll", .root), ("idle epoll", .somebody)] as [(String, Person)])
  func watchOfOthersIsRefused(_ kind: String, _ owner: Person) throws {
    let lab = try lab()
    let target = try lab.start(kind, as: owner)
    let (output, status) = try shell(
      lab.command("--observer bpf --pid \(target.processID) 2>&1", as: .nobody))
    #expect(status == .exited(4) && output.contains("it belongs to"), "\(output)")
  }

  @Test func protectedProgramShowsItsStatesOnly() throws {
    let lab = try lab()
    let target = try lab.start("protected spin", as: .nobody)
    var watch = try WatchRun(
      shell: lab.command(
        "--json --observer bpf --cpu-window 300ms --cpu-threshold 2 --pid \(target.processID)", as: .nobody))
    let attach = try watch.next("attach")
    #expect(attach["observer"] == .string("proc-states") && attach["capture_ways"] == .array([]))
    #expect(attach.missing.contains("it is protected") && attach.missing.contains("the task iterator"))
    #expect(try watch.next("cpu").missingStack?.contains("may not be looked into") == true)
  }

  @Test func rightsThatGoAndComeAreNoticed() throws {
    let lab = try lab()
    let target = try lab.start("changing-rights", as: .nobody)
    var watch = try WatchRun(
      shell: lab.command("--json --observer bpf --threshold 100ms --pid \(target.processID)", as: .nobody))
    #expect(try watch.next("attach")["observer"] == .string("bpf"))
    target.signal(SIGUSR1)
    let lost = try watch.next("notice", kind: "rights.changed")
    #expect(lost["text"]?.string?.contains("it is protected") == true, "\(lost)")
    target.signal(SIGUSR1)
    let back = try watch.next("notice", kind: "rights.changed")
    #expect(back["text"] == .string("what it waits for can be seen now"))
    #expect(watch.records(of: "stall").isEmpty)
  }

  @Test func executedSetuidProgramIsNotSeenAnyMore() throws {
    let lab = try lab()
    var target = try lab.start("become-later \(lab.makeSetuidProgram()) shows-secret", as: .nobody)
    var watch = try WatchRun(
      shell: lab.command("--json --observer bpf --threshold 100ms --pid \(target.processID)", as: .nobody))
    #expect(try watch.next("attach")["observer"] == .string("bpf"))
    var reader = try TargetProcess(
      path: "/bin/sh",
      arguments: ["-c", "exec \(Person.nobody.rawValue) \(lab.reader) iterator \(target.processID) 2000"])
    #expect(try reader.readLine() == "loaded")
    target.signal(SIGUSR1)
    #expect(try target.readLine() == "ready")
    let lost = try watch.next("notice", kind: "rights.changed")
    #expect(lost["text"]?.string?.contains("it is protected") == true, "\(lost)")
    #expect(try reader.readLine() == "threads \(target.processID)")
    #expect(try !reader.readLine().contains(Self.secret))
    #expect(watch.records(of: "stall").allSatisfy { $0.missingStack != nil })
    #expect(try read(target.processID, as: .root, milliseconds: 100, in: lab).words.contains(Self.secret))
  }

  /// A check outside of the kernel would come too early now and then.
  @Test func becomingRootAndBackDuringAReadGivesNothingAway() throws {
    let lab = try lab()
    let words = try "\(lab.makeSetuidProgram()) \(lab.targetProgram)"
    let target = try lab.start("alternating-rights \(words)", as: .nobody)
    let reading = try read(target.processID, milliseconds: 3_000, in: lab)
    #expect(reading.words.contains(Self.open) && !reading.words.contains(Self.secret))
    let all = try read(target.processID, as: .root, milliseconds: 1_000, in: lab)
    #expect(all.words.contains(Self.secret))
  }

  @Test func eachThreadIsJudgedByItsOwnUser() throws {
    let lab = try lab()
    let target = try lab.start("split-rights", as: .root)
    let reading = try read(target.processID, milliseconds: 200, in: lab)
    #expect(reading.threads == [target.processID] && !reading.words.contains(Self.secret))
    #expect(try read(target.processID, as: .root, milliseconds: 200, in: lab).words.contains(Self.secret))
  }

  /// It has no memory any more by which to judge.
  @Test func zombieLeader() throws {
    let lab = try lab()
    let target = try lab.start("busy-without-main", as: .nobody)
    #expect(try eventually { try threadStates(of: target.processID)[target.processID] == "Z" })
    let threads = Set(try ThreadList.threads(of: target.processID))
    #expect(try read(target.processID, in: lab).threads == threads.subtracting([target.processID]))
  }

  /// Everybody can call it, with whatever stands where its socket should be.
  @Test(arguments: ["1", "none", "", "99999999999"]) func loaderServesNobodyElse(_ process: String) throws {
    let lab = try lab()
    let (output, status) = try shell(
      "\(Person.nobody.rawValue) \(lab.program) iterator-loader '\(process)' 3</dev/null 2>&1")
    #expect(output == "" && status == .exited(0))
  }

  /// As its owner, so that whatever it opens is opened by the rules for the caller.
  @Test func setuidProgramActsAsItsCaller() throws {
    let lab = try RightsLab()
    let target = try lab.start("idle epoll", as: .root)
    #expect(try shell("chmod u+s \(lab.program)").status == .exited(0))
    let (output, status) = try shell(
      lab.command("-o \(lab.directory)/out --observer bpf --pid \(target.processID) 2>&1", as: .nobody))
    #expect(status != .exited(0), "\(output)")
    #expect(try shell("test -e \(lab.directory)/out").status == .exited(1))
  }
}
