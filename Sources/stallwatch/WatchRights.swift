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

  /// What was seen at first, or at a look after which something else was.
  init(_ process: Int32, _ options: Options, _ sight: FirstSight) {
    switch sight.waits {
    case .notAsked: self.init(.procCPU)
    case .kinds: self.init(.procKinds, "stacks and all of waits but their kind", process, sight)
    case .states: self.init(.procStates, "stacks and waits", process, sight)
    case .calls:
      // What shows a thread's call is read with the rights that its memory takes.
      let areCallsRefused = sight.isByIterator && Self.isRefused("/proc/\(process)/task/\(process)/syscall")
      if areCallsRefused {
        self.init(byIteratorAlone: process, sight)
      } else {
        self.init(ofAll: process, options, sight)
      }
    }
  }

  private init(_ observer: ObserverKind, _ ways: [CaptureWay] = [], missing: [MissingAbility?] = []) {
    self.observer = observer
    captureWays = ways
    self.missing = missing.compactMap { $0 }
  }

  private init(_ observer: ObserverKind, _ unseen: String, _ process: Int32, _ sight: FirstSight) {
    let denial = Denial(RightsFacts(process))
    let waits = MissingAbility(what: unseen, why: "\(denial.why); to see them: \(denial.next)")
    self.init(observer, missing: [waits, sight.way?.missingLooks(isUsed: sight.isByIterator)])
  }

  private init(byIteratorAlone process: Int32, _ sight: FirstSight) {
    let areRunningSeen = PerfCapture.refusal(forThread: process) == nil
    self.init(
      .bpf, (sight.isMemorySeen ? [.taskIterator] : []) + (areRunningSeen ? [.perf] : []),
      missing: [
        sight.isMemorySeen ? nil : Self.missingMemory(RightsFacts(process), areRunningSeen: areRunningSeen)
      ])
  }

  private init(ofAll process: Int32, _ options: Options, _ sight: FirstSight) {
    var facts = RightsFacts(process)
    facts.areWaitsSeen = true
    let areRunningSeen = PerfCapture.refusal(forThread: process) == nil
    let missingIterator = sight.way?.missing(isUsed: sight.isByIterator)
    let areBlockedSeen = sight.way?.program != nil && missingIterator == nil
    let whyNoStops = options.neverStop ? nil : Self.whyNoStops(facts)
    let mayStop = !options.neverStop && whyNoStops == nil
    let ways = CaptureWay.allCases.filter {
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
    self.init(
      sight.isByIterator ? .bpf : .proc, ways, missing: [missingIterator, stops, Self.missingMemoryCall])
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
