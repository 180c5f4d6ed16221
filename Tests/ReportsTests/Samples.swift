// Made-up watches: an ordinary one, a quiet one, and a dump.

import Reports
import StallCore

/// 2026-03-01T14:03:07.412345Z, and seconds after it.
func moment(_ seconds: Double) -> Moment {
  let microseconds = Int64(seconds * 1e6)
  return Moment(
    wall: WallTime(microseconds: 1_772_373_787_412_345 + microseconds),
    monotonic: Instant(nanoseconds: 4_000_000_000_000 + microseconds * 1_000))
}

func frame(
  _ counter: UInt64, _ symbol: ByteString?, _ module: ByteString?, trust: FrameTrust = .exact
) -> Frame {
  var frame = Frame(programCounter: counter, trust: trust)
  frame.module = module.map { ModuleReference(path: $0, buildID: "00ffee") }
  frame.moduleOffset = counter & 0xFFFF
  frame.symbol = symbol
  frame.symbolOffset = symbol == nil ? nil : 0x1C
  return frame
}

func stack(_ frames: [Frame], end: WalkEnd = .root, role: ThreadRole = .main) -> Stack {
  Stack(
    threadID: role == .main ? 4242 : 4250, threadName: role == .main ? "viewer" : "flusher", role: role,
    way: .ptrace, stoppedFor: .microseconds(312), end: end, frames: frames)
}

let loading: Stack = {
  var load = frame(0x5555_0000_1234, "Report::load(std::string const&)", "/opt/viewer/bin/viewer")
  load.rawSymbol = "_ZN6Report4loadERKSs"
  load.file = "/home/anna/viewer/report.cpp"
  load.line = 86
  load.aliases = ["Report::open(std::string const&)"]
  var inlined = load
  inlined.symbol = "parseHeader"
  inlined.isInlined = true
  var gone = frame(0x7FFF_1000_0042, nil, "/usr/lib/plugin.so")
  gone.module?.isDeleted = true
  return stack([
    frame(0x7FFF_0000_9A2F, "read", "/usr/lib/x86_64-linux-gnu/libc.so.6"), inlined, load, gone,
    frame(0x5555_0000_2000, "main", "/opt/viewer/bin/viewer"), frame(0x10, nil, nil, trust: .scanned),
  ])
}()

let deep = stack(
  (0..<40).map { frame(0x5555_0000_3000 + $0, ByteString("recurse<\($0)>"), "/opt/viewer/bin/viewer") },
  end: .limit)

let mainThread = ThreadRecord(threadID: 4242, name: "viewer", role: .main)

func stall(
  _ id: Int, _ state: StallState, _ milliseconds: Int64, proof: PassProof = .didNotMove,
  uncertainty: Int64? = 1,
  onCPU: Int64 = 5
) -> Stall {
  var breakdown = TimeBreakdown()
  breakdown.onCPU = .milliseconds(onCPU)
  if onCPU > 100 { breakdown.onCPUInKernel = .milliseconds(onCPU / 10) }
  breakdown.blocked = .milliseconds(milliseconds - onCPU)
  let likely = Duration.milliseconds(milliseconds)
  return Stall(
    id: id, state: state, threshold: .milliseconds(500), startedAt: moment(-0.5).monotonic,
    duration: DurationEstimate(
      likely: likely, atLeast: likely - .milliseconds(uncertainty ?? 1),
      atMost: uncertainty.map { likely + .milliseconds($0) }),
    proof: proof, breakdown: breakdown)
}

let disk = Cause(
  .disk, "reading a file that does not answer: read(17) on /mnt/nfs/report.csv", confidence: .high,
  evidence: ["in disk wait for 500 ms", "descriptor 17 is /mnt/nfs/report.csv"])

func attach(cpuThreshold: Double = 70) -> AttachRecord {
  AttachRecord(
    name: "viewer", command: ["/opt/viewer/bin/viewer", "--file", "a b.csv"],
    executable: "/opt/viewer/bin/viewer", buildID: "00ffee", startTicks: 123_456, threads: 7,
    thread: mainThread,
    threadReason: "it is the only thread that waits for events", threshold: .milliseconds(500),
    cpuThreshold: cpuThreshold, cpuWindow: .seconds(3), observer: .proc,
    captureWays: [.ptrace, .syscallFile],
    missing: [MissingAbility(what: "running threads without stopping", why: "needs CAP_PERFMON")])
}

private func emptyStack() -> Stack {
  var stack = stack([], end: .notCaptured, role: .worker)
  stack.way = nil
  stack.stoppedFor = .zero
  stack.missing = "thread is in uninterruptible sleep and would not stop"
  stack.kernelPart = .frames([
    KernelFrame(symbol: "rpc_wait_bit_killable", symbolOffset: 0x11, module: "sunrpc"),
    KernelFrame(symbol: "ksys_read", symbolOffset: 0x66),
  ])
  return stack
}

private func approximateStack() -> Stack {
  var stack = stack(
    [frame(0x7FFF_0000_9A2F, "futex_wait", "/usr/lib/libc.so.6")], end: .noRule, role: .lockOwner)
  stack.isApproximate = true
  stack.way = .syscallFile
  stack.kernelPart = .frames([KernelFrame(symbol: "futex_do_wait", symbolOffset: 0x38)])
  stack.stoppedFor = .zero
  return stack
}

/// As of a JavaScript program: two runs of generated code, the second one near the end.
private func generatedStack() -> Stack {
  func generated(_ count: Int) -> [Frame] {
    (0..<count).map { index in
      var frame = Frame(programCounter: 0x7F11_0000_0000 + UInt64(index) * 64, trust: .framePointer)
      frame.isGenerated = true
      return frame
    }
  }
  let native = (0..<22).map { frame(0x40_0000 + UInt64($0) * 16, ByteString("native\($0)"), "/usr/bin/node") }
  var stack = stack(
    generated(1) + native[..<12] + generated(30) + native[12...], role: .worker)
  stack.isCompleted = true
  return stack
}

/// What the loop of `loading` does on another occasion.
let timer = stack([
  frame(0x5555_0000_5000, "onTimer", "/opt/viewer/bin/viewer"),
  frame(0x5555_0000_2010, "main", "/opt/viewer/bin/viewer"), frame(0x10, nil, nil, trust: .scanned),
])

/// Stacks of 100 ms each.
func handlerShares(_ stacks: [Stack]) -> HandlerShares {
  var shares = HandlerShares()
  shares.knownLoop = [FunctionIdentity(symbol: "main", module: "viewer")]
  for stack in stacks { shares.add(stack, weight: .milliseconds(100)) }
  return shares
}

func saturationRecord(
  _ state: StallState, _ milliseconds: Int64, passes: Int?, shares: HandlerShares,
  repetition: Repetition = Repetition(), thread: ThreadRecord = mainThread, stack: Stack? = loading
) -> SaturationRecord {
  let stall = stall(6, state, milliseconds, onCPU: milliseconds - 20)
  return SaturationRecord(
    Saturation(
      id: stall.id, state: state, threshold: stall.threshold, startedAt: stall.startedAt,
      duration: stall.duration, passes: passes, longestPass: passes.map { _ in .milliseconds(31) },
      breakdown: stall.breakdown), at: moment(13.5), thread: thread, shares: shares, repetition: repetition,
    stack: stack)
}

private func ordinaryStalls() -> [(Double, RecordBody)] {
  [
    (0, .stall(stallRecord(stall(1, .ongoing, 500), at: 0))),
    (
      1.331,
      .stall(
        stallRecord(
          stall(1, .ended, 1331), at: 1.331,
          repetition: Repetition(count: 3, suppressed: 1, quiet: .seconds(20))))
    ),
    (
      10,
      .stall(
        stallRecord(
          stall(2, .ended, 700, proof: .neverSlept, uncertainty: 0, onCPU: 700), at: 10,
          cause: Cause(.userCPU, "computing", confidence: .low, evidence: ["on CPU all the time"]),
          stacks: [deep]))
    ),
    (
      12,
      .stall(
        stallRecord(
          stall(3, .interrupted(.targetExited), 1999, uncertainty: nil), at: 12,
          cause: Cause(.mutex, "waiting for a lock held by \"flusher\"", confidence: .medium, evidence: []),
          stacks: [
            stack([frame(0x5555_0000_4000, "Session::lock", "/opt/viewer/bin/viewer")]), approximateStack(),
          ]))
    ),
    (13, .stall(stallRecord(stall(4, .ongoing, 512, proof: .neverParked), at: 13, cause: nil, stacks: []))),
    (13.5, .saturation(saturationRecord(.ongoing, 520, passes: 33, shares: HandlerShares()))),
    (
      19,
      .saturation(
        saturationRecord(
          .ended, 5_300, passes: 412, shares: handlerShares([loading, timer, deep, timer]),
          repetition: Repetition(count: 12, suppressed: 8, quiet: .seconds(3_600))))
    ),
    (
      14,
      .unverified(stallRecord(stall(5, .interrupted(.watchEnded), 612, proof: .none), at: 14, loopNesting: 2))
    ),
  ]
}

func spells(_ durationsMilliseconds: [Int]) -> SpellHistogram {
  var spells = SpellHistogram()
  for duration in durationsMilliseconds { spells.add(.milliseconds(duration)) }
  return spells
}

/// Verified stalls of so many milliseconds.
func totals(_ durationsMilliseconds: [Int]) -> StallTotals {
  var totals = StallTotals()
  for duration in durationsMilliseconds { totals.add(.milliseconds(duration), isVerified: true) }
  return totals
}

private func summary() -> SummaryRecord {
  var saturation = SaturationTotals()
  saturation.add(.milliseconds(5_300))
  return SummaryRecord(
    watched: .seconds(252), stalls: totals([1331, 700, 1999]), suppressed: 1, unverified: 1,
    saturation: saturation, busyThreads: 1, phases: slowLaunch(),
    nearMisses: [.milliseconds(480), .microseconds(390_400)],
    suggestion: SuggestedThreshold(
      spells([480, 390, 1331, 700, 1999]), stalls: 3, threshold: .milliseconds(500), watched: .seconds(252)),
    parkedShare: 0.9798,
    places: [
      PlaceSummary(
        PlaceTotals(
          fingerprint: Fingerprint(loading), name: "Report::load", count: 3, time: .milliseconds(3400),
          cause: .disk)),
      PlaceSummary(
        PlaceTotals(
          fingerprint: Fingerprint(deep), name: "recurse", count: 1, time: .milliseconds(700), cause: nil)),
    ],
    probe: probeSummary(),
    responses: ResponseSummary([40, 90, 1310].reduce(into: ResponseTimes()) { $0.add(.milliseconds($1)) }),
    ownCost: OwnCost(
      cpuTime: .milliseconds(101), watched: .seconds(252), looks: 1010, lateLooks: 0,
      targetStopped: .microseconds(936)))
}

func series(_ host: ByteString, _ bodies: [(Double, RecordBody)]) -> [Record] {
  var series = RecordSeries(origin: RecordOrigin(watchID: "5f0c2a9e", host: host, processID: 4242))
  return bodies.map { series.record($0.1, at: moment($0.0)) }
}

let ordinaryWatch = series(
  "build-3",
  [(-1, .attach(attach())), (-0.9, .notice(loopFound("libuv")))]
    + ordinaryStalls() + slowPhases() + sampledStalls() + [
      (61, sampledBusyThread()),
      (
        60,
        .cpu(
          BusyThreadRecord(
            thread: ThreadRecord(threadID: 4250, name: "worker-3", role: .worker),
            cpuTime: .milliseconds(2913),
            window: .seconds(3),
            cause: Cause(
              .polling, "spinning: poll returns at once, again and again (polling with timeout 0)",
              confidence: .medium, evidence: ["put on a CPU 12 times a second"]),
            stacks: [loading]))
      ),
      (86_400, .exit(ExitRecord(.unknown))),
      (
        86_400,
        .exit(
          ExitRecord(
            .exited(status: 7), generation: 2, survivors: [OtherProcess(id: 4260, name: "viewer-index")]))
      ),
      (86_400, .exit(ExitRecord(.signalled(11)))),
      (86_400, .summary(summary())),
    ])

let quietWatch = series(
  "build-3",
  [
    (-1, .attach(attach(cpuThreshold: 0))),
    (
      0,
      .summary(
        SummaryRecord(
          watched: .zero, stalls: totals([]), unverified: 0, busyThreads: 0, nearMisses: [], parkedShare: nil,
          places: [],
          ownCost: OwnCost(
            cpuTime: .milliseconds(2), watched: .zero, looks: 1, lateLooks: 0, targetStopped: .zero)))
    ),
  ])

let dumpedThreads = series(
  "build-3",
  [
    (0, .dump(ThreadDumpRecord(loading))), (0, .dump(ThreadDumpRecord(emptyStack()))),
    (0, .dump(ThreadDumpRecord(approximateStack()))),
    (0, .dump(ThreadDumpRecord(generatedStack()))),
    (
      0.014,
      .dumpSummary(
        DumpSummaryRecord(
          threads: 3,
          missing: [
            MissingStacks(reason: "thread is in uninterruptible sleep and would not stop", threads: 1)
          ], omitted: 2, took: .milliseconds(14), targetStopped: .microseconds(312))
      )
    ),
  ])
