// Stacks of blocked threads in a watch: without a stop where the kernel lets us, and by the other ways where it does not.

import FoundationEssentials
import Glibc
import Linux
import TestSupport
import Testing

extension JSONValue {
  fileprivate var captured: String? { object["captured"]?.string }
}

private let canReadKernelStacks = (try? readPseudoFile("/proc/self/stack")) != nil

@Suite(
  .serialized, .enabled(if: isTaskIteratorExpected, "the task iterator needs root, Linux 5.15 and its types"))
struct BlockedStackTests {
  private func stacks(_ record: [String: JSONValue]) -> [JSONValue] { record["stacks"]?.array ?? [] }

  @Test(
    "PT-01: a stall is captured without a stop, and the threads beside it too",
    arguments: ["sleep", "read", "lock"])
  func nobodyIsStopped(_ kind: String) throws {
    let target = try TargetProcess.start("stalling-loop", "epoll", kind)
    var watch = try WatchRun([
      "--json", "--pid", "\(target.processID)", "--threshold", "100ms", "--stacks", "all",
    ])
    let attach = try watch.next("attach")
    #expect(attach["observer"] == .string("bpf") && attach.missing == "")
    #expect(attach["capture_ways"]?.array.first == .string("task-iterator"))
    _ = try watch.next("notice", kind: "loop.found")
    target.signal(SIGUSR1)
    let ended = try watch.next("stall", state: "ended")
    #expect(ended.symbols.contains("main") && ended.symbols.contains { $0.hasPrefix("stall_by_") })
    let all = watch.records(of: "stall").flatMap { stacks($0) }
    #expect(all.count > 1 && all.allSatisfy { $0.captured == "task-iterator" })
    #expect(all.allSatisfy { $0.object["approximate"] == .boolean(false) })
    #expect(stacks(ended).allSatisfy { $0.object["walk_end"] == .string("root") })
    watch.signal(SIGINT)
    let cost = try watch.next("summary")["own_cost"]?.object
    #expect(cost?["target_stopped_us"] == .number(0))
  }

  @Test(
    "PT-01: a stall in another epoll, waited for by the same call as the loop's own, has its stack at the threshold",
    arguments: ["bpf", "proc"])
  func sameCall(_ observer: String) throws {
    let target = try TargetProcess.start("one-wait-loop")
    var watch = try WatchRun([
      "--json", "--pid", "\(target.processID)", "--threshold", "100ms", "--observer", observer,
    ])
    _ = try watch.next("notice", kind: "loop.found")
    target.signal(SIGUSR1)
    let ongoing = try watch.next("stall", state: "ongoing")
    #expect(
      ongoing.symbols.contains("wait_for"), "\(stacks(ongoing).map { $0.object["missing"]?.string ?? "" })")
    #expect(try watch.next("stall", state: "ended").symbols.contains("wait_for"))
  }

  @Test("a dump of a running watch has exact stacks of parked threads") func dumpOfAWatch() throws {
    let target = try TargetProcess.start("stalling-loop", "epoll", "sleep")
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)"])
    _ = try watch.next("notice", kind: "loop.found")
    watch.signal(SIGUSR1)
    let dump = try watch.next("dump")
    #expect(stacks(dump).map(\.captured) == ["task-iterator"])
    #expect(stacks(dump).first?.object["approximate"] == .boolean(false))
    #expect(dump.symbols.contains("wait_in") && dump.symbols.contains("main"))
  }

  /// How often each process of a watch that copies threads was put on a CPU.
  private func wakeUps(_ watch: Int32) throws -> [Int32: UInt64] {
    var counts: [Int32: UInt64] = [:]
    for thread in try ThreadList.threads(of: watch) {
      let text = String(decoding: try readPseudoFile("/proc/\(watch)/task/\(thread)/children"), as: UTF8.self)
      for child in text.split(separator: " ").compactMap({ Int32($0) }) {
        let name = try readPseudoFile("/proc/\(child)/comm")
        let statistics = try readPseudoFile("/proc/\(child)/schedstat")
        if name.starts(with: "stallwatch-copy".utf8) {
          counts[child] = SchedulerStatistics(statistics.span)?.timesScheduled
        }
      }
    }
    return counts
  }

  private func symbolsOfDump(_ watch: inout WatchRun) throws -> [[String]] {
    let before = watch.records(of: "dump").count
    watch.signal(SIGUSR1)
    _ = try watch.next("dump_summary")
    return watch.records(of: "dump").dropFirst(before).map(\.symbols)
  }

  @Test("threads that have not run since the dump before are not copied again")
  func unmovedThreads() throws {
    let target = try TargetProcess.start("parked-crowd", "8")
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)"])
    _ = try watch.next("attach")
    target.signal(SIGSTOP)
    #expect(try eventually { try threadStates(of: target.processID).values.allSatisfy { $0 == "T" } })
    let first = try symbolsOfDump(&watch)
    #expect(first.count == 9)
    var wasQuiet = false
    for _ in 0..<20 where !wasQuiet {
      let before = try wakeUps(watch.processID)
      let later = try symbolsOfDump(&watch)
      #expect(later == first && !before.isEmpty)
      wasQuiet = try wakeUps(watch.processID) == before
    }
    #expect(wasQuiet)
  }

  @Test("LIFE-03: what the process becomes by exec is captured the same way") func afterExec() throws {
    let target = try TargetProcess(
      path: "/bin/sh",
      arguments: ["-c", "kill -STOP $$; exec \(builtProduct("TestTarget")) stalling-loop epoll sleep"])
    #expect(try eventually { try threadStates(of: target.processID)[target.processID] == "T" })
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)", "--threshold", "100ms"])
    _ = try watch.next("attach")
    target.signal(SIGCONT)
    _ = try watch.next("notice", kind: "loop.found")
    target.signal(SIGUSR1)
    let ended = try watch.next("stall", state: "ended")
    #expect(stacks(ended).map(\.captured) == ["task-iterator"])
    #expect(ended.symbols.contains("stall_by_sleeping"))
  }

  @Test("PT-07: a stall in an uninterruptible wait has an exact stack") func uninterruptible() throws {
    let target = try TargetProcess.start("vfork-parent")
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)"])
    _ = try watch.next("attach")
    watch.signal(SIGUSR1)
    let stack = try #require(stacks(try watch.next("dump")).first)
    #expect(stack.captured == "task-iterator" && stack.object["walk_end"] == .string("root"))
    #expect(try threadStates(of: target.processID)[target.processID] == "D")
  }

  @Test(
    "what the kernel does for a blocked thread stands beside its stack", .enabled(if: canReadKernelStacks))
  func kernelFrames() throws {
    let target = try TargetProcess.start("stalling-loop", "epoll", "sleep")
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)"])
    _ = try watch.next("notice", kind: "loop.found")
    watch.signal(SIGUSR1)
    let told = stacks(try watch.next("dump")).first?.object["kernel_frames"]?.array ?? []
    let text = String(
      decoding: try readPseudoFile("/proc/\(target.processID)/stack"), as: UTF8.self)
    let lines = text.split(separator: "\n")
    #expect(told.count == lines.count && !told.isEmpty)
    for (frame, line) in zip(told, lines) {
      #expect(line.contains(" \(frame.object["symbol"]?.string ?? "nothing")+"), "\(line)")
    }
  }

  @Test("--observer proc does without the iterator") func withoutTheIterator() throws {
    let target = try TargetProcess.start("stalling-loop", "epoll", "sleep")
    var watch = try WatchRun([
      "--json", "--pid", "\(target.processID)", "--threshold", "100ms", "--observer", "proc",
    ])
    let attach = try watch.next("attach")
    #expect(attach["capture_ways"]?.array.contains(.string("task-iterator")) == false)
    #expect(attach.missing == "")
    _ = try watch.next("notice", kind: "loop.found")
    target.signal(SIGUSR1)
    #expect(stacks(try watch.next("stall", state: "ended")).map(\.captured) == ["ptrace"])
  }

  /// The same number of calls with and without captures.
  @Test("PERM-11: where BPF is refused, the other ways remain, it is told, and it is not tried for again")
  func refusedOnce() throws {
    let target = try TargetProcess.start("stalling-loop", "epoll", "sleep")
    func refusals(_ arguments: String, stalls: Bool) throws -> String {
      var watch = try WatchRun(
        shell: "exec \(builtProduct("TestTarget")) count-refused bpf \(builtProduct("stallwatch")) "
          + "--json --threshold 50ms --cooldown 0 \(arguments) --pid \(target.processID)")
      let attach = try watch.next("attach")
      #expect(attach["capture_ways"]?.array.contains(.string("task-iterator")) == false)
      #expect(attach.missing.contains("the task iterator (exact stacks of blocked threads without a stop)"))
      if stalls {
        _ = try watch.next("notice", kind: "loop.found")
        target.signal(SIGUSR1)
        let ended = try watch.next("stall", state: "ended")
        #expect(stacks(ended).map(\.captured) == ["ptrace"])
        #expect(ended.symbols.contains("stall_by_sleeping"))
      }
      _ = try watch.next("summary")
      return try watch.readLine()
    }
    let once = try refusals("--duration 100ms", stalls: false)
    #expect(once.hasPrefix("refused ") && once != "refused 0")
    #expect(try refusals("--count 1", stalls: true) == once)
  }

  @Test(
    "PERM-04: without capabilities the previous ways remain, and the reason is told",
    .enabled(if: RightsLab.isPossible, "needs root and mounts of its own"))
  func withoutCapabilities() throws {
    let lab = try RightsLab()
    let target = try lab.start("stalling-loop poll sleep", as: .nobody)
    var watch = try WatchRun(
      shell: lab.command("--json --threshold 100ms --pid \(target.processID)", as: .nobody))
    let attach = try watch.next("attach")
    #expect(attach.missing.contains("it needs CAP_BPF and CAP_PERFMON"))
    target.signal(SIGUSR1)
    #expect(stacks(try watch.next("stall", state: "ended")).map(\.captured) == ["ptrace"])
  }
}
