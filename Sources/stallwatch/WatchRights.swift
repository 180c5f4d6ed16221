// What may be seen of the watched process, what not, and why: said once, at the start.

internal import CommandLineOptions
internal import Linux
internal import Observation
internal import Reports
internal import Stacks
internal import StallCore

struct WatchRights {
  let observer: ObserverKind
  let captureWays: [CaptureWay]
  let missing: [MissingAbility]

  /// `sight` is that of the first look, or of one after which it was another.
  init(
    _ process: Int32, _ options: Options, _ sight: WaitSight, _ way: ObserverWay? = nil,
    isByIterator: Bool = false, isMemorySeen: Bool = true
  ) {
    var facts = RightsFacts(process)
    switch sight {
    case .notAsked:
      observer = .procCPU
      captureWays = []
      missing = []
    case .kinds, .states:
      let isKind = if case .kinds = sight { true } else { false }
      observer = isKind ? .procKinds : .procStates
      captureWays = []
      let denial = Denial(facts)
      let waits = MissingAbility(
        what: isKind ? "stacks and all of waits but their kind" : "stacks and waits",
        why: "\(denial.why); to see them: \(denial.next)")
      missing = [waits, way?.missingLooks(isUsed: isByIterator)].compactMap { $0 }
    case .calls:
      observer = isByIterator ? .bpf : .proc
      let areRunningSeen = PerfCapture.refusal(forThread: process) == nil
      // What shows a thread's call is read with the rights that its memory takes.
      if isByIterator, Self.isRefused("/proc/\(process)/task/\(process)/syscall") {
        captureWays = (isMemorySeen ? [.taskIterator] : []) + (areRunningSeen ? [.perf] : [])
        missing = isMemorySeen ? [] : [Self.missingMemory(facts, areRunningSeen: areRunningSeen)]
        return
      }
      facts.areWaitsSeen = true
      let missingIterator = way?.missing(isUsed: isByIterator)
      let areBlockedSeen = way?.program != nil && missingIterator == nil
      let whyNoStops = options.neverStop ? nil : Self.whyNoStops(facts)
      let mayStop = !options.neverStop && whyNoStops == nil
      captureWays = CaptureWay.allCases.filter {
        switch $0 {
        case .taskIterator: areBlockedSeen
        case .perf: areRunningSeen
        case .ptrace: mayStop
        case .syscallFile: true
        }
      }
      let stops = whyNoStops.flatMap { why in
        Self.seenByStopsAlone(areRunningSeen: areRunningSeen, areBlockedSeen: areBlockedSeen)
          .map { MissingAbility(what: $0, why: why) }
      }
      missing = [missingIterator, stops, Self.missingMemoryCall].compactMap { $0 }
    }
  }

  /// For rights that have changed meanwhile.
  var remark: String {
    missing.first?.sentence ?? "what it waits for can be seen now"
  }

  private static func isRefused(_ path: String) -> Bool {
    do throws(Errno) { _ = try readPseudoFile(path) } catch { return error.meansNotAllowed }
    return false
  }

  private static func missingMemory(_ facts: RightsFacts, areRunningSeen: Bool) -> MissingAbility {
    let denial = Denial(facts)
    return MissingAbility(
      what: (areRunningSeen ? "stacks of blocked threads" : "stacks")
        + ", names in them, and all of waits that stands in memory",
      why: "\(denial.why); to see them: \(denial.next)")
  }

  private static func whyNoStops(_ facts: RightsFacts) -> String? {
    if facts.isDumpingCore { return "it crashed and is dumping core" }
    guard facts.tracer != 0 || CallFilter.ptraceRefusal != nil else { return nil }
    let denial = Denial(facts)
    return "\(denial.why); to see them: \(denial.next)"
  }

  private static func seenByStopsAlone(areRunningSeen: Bool, areBlockedSeen: Bool) -> String? {
    switch (areRunningSeen, areBlockedSeen) {
    case (true, true): nil
    case (true, false): "exact stacks of blocked threads"
    case (false, true): "stacks of running threads"
    case (false, false): "stacks of running threads, and exact ones"
    }
  }

  /// Memory is read another way then, `ProcessMemory`.
  private static var missingMemoryCall: MissingAbility? {
    CallFilter.memoryRefusal.map {
      MissingAbility(
        what: "process_vm_readv",
        why: "refused to stallwatch (\($0.text)); memory is read through /proc/PID/mem")
    }
  }
}
