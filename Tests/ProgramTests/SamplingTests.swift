// Where the time of a stall went, held against what the target says of itself.

import FoundationEssentials
import Glibc
import Linux
import TestSupport
import Testing

@Suite(.serialized) struct SamplingTests {
  /// A stall of `parts-loop`, and the share of the part that took more of the time.
  private func stall(_ kind: String, depth: Int, _ options: String...) throws -> (
    record: [String: JSONValue], truth: Double
  ) {
    var target = try TargetProcess.start("parts-loop", kind, "\(depth)")
    var watch = try WatchRun(
      ["--json", "--pid", "\(target.processID)", "--threshold", "350ms", "--cooldown", "0s"] + options)
    _ = try watch.next("notice", kind: "loop.found")
    target.signal(SIGUSR1)
    let ended = try watch.next("stall", state: "ended")
    let parts = try target.readLine().split(separator: " ").compactMap { Double($0) }
    return (ended, parts[0] / (parts[0] + parts[1]))
  }

  /// Of the time that went into one of the two parts.
  private func share(of function: String, besides other: String, in record: [String: JSONValue]) -> Double {
    func weight(_ function: String) -> Double {
      record.sampledStacks.filter { $0.functions.contains(function) }.reduce(0) {
        $0 + ($1.number("weight_ms") ?? 0)
      }
    }
    return weight(function) / (weight(function) + weight(other))
  }

  private func expectWeightsAddUp(_ record: [String: JSONValue]) throws {
    let sampling = try #require(record["sampling"]?.object)
    let covered = try #require(sampling.number("covered_ms"))
    let weights = record.sampledStacks.compactMap { $0.number("weight_ms") }
    let sum = weights.reduce(sampling.number("other_ms") ?? .nan, +)
    #expect(abs(sum - covered) < 1, "\(sum) of \(covered) ms")
    #expect(weights == weights.sorted(by: >))
    #expect(covered <= (record.number("duration_max_ms") ?? 0) + 1)
    #expect((sampling.number("samples") ?? 0) >= Double(weights.count))
  }

  /// The samples are of the thread's own CPU time, and so is the truth: a busy machine changes neither.
  @Test(
    "A stall that computes in two places tells how much of the time went where, also from a deep stack",
    .enabled(if: isSamplingAllowed), arguments: [0, 60])
  func sharesOfWhatComputes(_ depth: Int) throws {
    let (record, truth) = try stall("compute", depth: depth)
    try expectWeightsAddUp(record)
    let found = share(of: "compute_long_part", besides: "compute_short_part", in: record)
    #expect(abs(found - truth) < 0.2, "\(found), and really \(truth)")
    #expect(record.symbols.contains("compute_long_part") && record.symbols.contains("main"))
    let samples = record.sampledStacks.filter { $0["captured"] == .string("perf") }
    #expect(samples.allSatisfy { $0.number("stopped_us") == 0 })
    #expect(samples.contains { $0["walk_end"] == .string("root") })
    #expect(samples.contains { $0["completed"] == .boolean(true) } == (depth > 0))
    // What interrupts it is not its own doing.
    #expect(samples.first?["kernel_frames"] == nil)
  }

  @Test(
    "A stall that computes in the kernel tells what it does there",
    .enabled(if: isKernelShown, "needs CAP_PERFMON, CAP_SYSLOG, and kernel.kptr_restrict below 2"),
    arguments: [[], ["--observer", "proc"]])
  func whatRunsInTheKernel(_ options: [String]) throws {
    let target = try TargetProcess.start("stalling-loop", "epoll", "fill")
    var watch = try WatchRun(
      ["--json", "--pid", "\(target.processID)", "--threshold", "200ms", "--cooldown", "0s"] + options)
    _ = try watch.next("notice", kind: "loop.found")
    target.signal(SIGUSR1)
    let ended = try watch.next("stall", state: "ended")
    let heaviest = try #require(ended.sampledStacks.first)
    #expect(heaviest.functions.contains("stall_by_filling"))
    let frames = (heaviest["kernel_frames"]?.array ?? []).map(\.object)
    #expect(frames.contains { $0["symbol"] == .string("vfs_read") }, "\(frames)")
    #expect(frames.allSatisfy { $0["symbol"]?.string?.hasPrefix("0x") == false })
  }

  @Test("A stall of several sleeps tells how much of the time went into which")
  func sharesOfWhatSleeps() throws {
    let (record, truth) = try stall("sleep", depth: 0)
    try expectWeightsAddUp(record)
    let found = share(of: "sleep_long_part", besides: "sleep_short_part", in: record)
    #expect(abs(found - truth) < 0.25, "\(found), and really \(truth)")
    #expect(record.symbols.contains("sleep_long_part"))
    let sampling = try #require(record["sampling"]?.object)
    // One for each block, not one for each look.
    #expect((sampling.number("samples") ?? 0) < 20)
  }

  @Test("One block is one stack with all its time, from when it began")
  func oneBlockIsOneStack() throws {
    let target = try TargetProcess.start("stalling-loop", "epoll", "sleep")
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)", "--threshold", "200ms"])
    _ = try watch.next("notice", kind: "loop.found")
    target.signal(SIGUSR1)
    let ended = try watch.next("stall", state: "ended")
    try expectWeightsAddUp(ended)
    let weight = try #require(ended.sampledStacks.first?.number("weight_ms"))
    #expect(ended.sampledStacks.first?.functions.contains("stall_by_sleeping") == true)
    #expect(weight > (ended.number("duration_ms") ?? 0) / 2)
  }

  @Test("A busy thread is told with the shares of its window", .enabled(if: isSamplingAllowed))
  func sharesOfABusyThread() throws {
    let target = try TargetProcess.start("parts-loop", "busy", "0")
    var watch = try WatchRun([
      "--json", "--pid", "\(target.processID)", "--cpu-window", "1500ms", "--cpu-threshold", "25",
    ])
    let busy = try watch.next("cpu")
    let sampling = try #require(busy["sampling"]?.object)
    #expect((sampling.number("samples") ?? 0) > 5)
    #expect(abs(share(of: "compute_long_part", besides: "compute_short_part", in: busy) - 2.0 / 3) < 0.3)
  }

  @Test("Without perf events a running thread has the stacks that were copied for its records")
  func withoutPerfEvents() throws {
    var target = try TargetProcess.start("parts-loop", "compute", "0")
    var watch = try WatchRun(
      shell: "exec \(builtProduct("TestTarget")) deny perf_event_open 13 \(builtProduct("stallwatch")) "
        + "--json --pid \(target.processID) --threshold 300ms")
    _ = try watch.next("notice", kind: "loop.found")
    target.signal(SIGUSR1)
    let ended = try watch.next("stall", state: "ended")
    _ = try target.readLine()
    try expectWeightsAddUp(ended)
    let samples = try #require(ended["sampling"]?.object.number("samples"))
    #expect(samples >= 1 && samples <= 4)
  }
}

extension [String: JSONValue] {
  /// Those of the stalled thread that stand for some of its time.
  fileprivate var sampledStacks: [[String: JSONValue]] {
    (self["stacks"]?.array ?? []).map(\.object).filter { $0["weight_ms"] != nil }
  }

  fileprivate var functions: [String] {
    (self["frames"]?.array ?? []).compactMap { $0.object["symbol"]?.string }
  }
}
