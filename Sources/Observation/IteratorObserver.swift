// Looks at one thread through the task iterator: all of a look is of one moment, and no allocation.

package import Linux
package import StallCore

package struct IteratorObserver: ~Copyable {
  private var sampler: TaskSampler
  private let statistics: PseudoFile
  private let stat: PseudoFile
  private var clock = SchedulerClock()
  private var buffer = PseudoFile.makeBuffer()
  private var memory = [UInt8](repeating: 0, count: DescriptorReader.mostBytes)
  private var descriptors = DescriptorCache()

  package private(set) var facts = LookFacts()
  /// When the thread left the CPU, if it was off it at the last look.
  private var departure: Instant?
  private var last: ThreadObservation?
  /// The last look that did not find the present block.
  private var lastElsewhere: Instant?
  private var lastFullLook = Instant(nanoseconds: 0)
  private var lastStat: Instant?
  private var hasTerminal = true
  /// What can change without the thread's doing: frozen in its sleep, another job in the foreground.
  private static let mostUnread = Duration.seconds(2)
  /// A thread that moves while its descriptors are read is looked at again, so often.
  private static let attempts = 3

  package init(process: Int32, thread: Int32, _ program: TaskProgram) throws {
    let directory = "/proc/\(process)/task/\(thread)/"
    let sampler = try program.sampler(of: thread)
    let statistics = try PseudoFile(directory + "schedstat")
    let stat = try PseudoFile(directory + "stat")
    self.sampler = sampler
    self.statistics = statistics
    self.stat = stat
  }

  /// One look. A thread that was blocked and was not scheduled in since is where it was: its count tells that for a tenth
  /// of what a walk costs. If its time counts (`isAtWork`), it may be frozen there, or thawed.
  ///
  /// Nil: there is no such thread any more, or our rights do not suffice to be told of it (`TaskProgram`).
  package mutating func look(isAtWork: Bool, readMemory: MemoryReader) throws(Errno) -> ThreadObservation? {
    let now = Instant(nanoseconds: Clock.monotonicNanoseconds)
    if !isAtWork, var unmoved = last, unmoved.isBlocked, now - lastFullLook < Self.mostUnread,
      try timesScheduled() == unmoved.timesScheduled
    {
      unmoved.at = now
      return unmoved
    }
    guard let observation = try lookAnew(readMemory) else {
      last = nil
      return nil
    }
    lastElsewhere = observation.lastElsewhere(after: last) ?? lastElsewhere
    (last, lastFullLook) = (observation, observation.at)
    readJobControl(at: observation.at)
    return observation
  }

  /// Nil if the thread is not where the last full look found it blocked, or that look was long ago: then look.
  package mutating func restsStill() -> Instant? {
    guard let last, last.isBlocked else { return nil }
    let now = Instant(nanoseconds: Clock.monotonicNanoseconds)
    guard now - lastFullLook < Self.mostUnread, (try? timesScheduled()) == last.timesScheduled else {
      return nil
    }
    return now
  }

  package func blockStart(of look: ThreadObservation) -> BlockStart? {
    guard look.isBlocked, let departure else { return nil }
    return BlockStart(by: BlockStart(latest: departure), after: lastElsewhere, at: look.at)
  }

  private mutating func lookAnew(_ readMemory: MemoryReader) throws(Errno) -> ThreadObservation? {
    guard var observation = try takeSample() else { return nil }
    for _ in 0..<Self.attempts {
      guard case .blocked(let call) = observation.activity else { return observation }
      var wasRead = false
      observation.descriptors = descriptors.descriptors(
        of: call, block: observation.timesScheduled, at: observation.at
      ) {
        wasRead = true
        return DescriptorReader.descriptors(of: call, memory: &memory, read: readMemory)
      }
      guard wasRead, try timesScheduled() != observation.timesScheduled else { return observation }
      guard let next = try takeSample() else { return nil }
      observation = next
    }
    observation.activity = .running
    return observation
  }

  private mutating func takeSample() throws(Errno) -> ThreadObservation? {
    guard let sample = try sampler.sample() else { return nil }
    clock.learn(from: sample)
    (facts.image, facts.majorFaults) = (sample.image, sample.majorFaults)
    departure = sample.departedAt.flatMap { clock.moment($0) }
    var observation = ThreadObservation(sample)
    if let before = sample.runNanosecondsAtArrival, let arrived = clock.moment(sample.arrivedAt) {
      observation.arrival = ProcessorArrival(at: arrived, cpuTime: .nanoseconds(Int64(clamping: before)))
    }
    return observation
  }

  private mutating func timesScheduled() throws(Errno) -> UInt64 {
    let count = try statistics.read(into: &buffer)
    guard let parsed = SchedulerStatistics(buffer.span.extracting(first: count)) else { throw .inputOutput }
    return parsed.timesScheduled
  }

  /// Neither the terminal nor its foreground group is a matter of the thread. At a terminal it is brought to the foreground at
  /// any time, and what it does next is seen by somebody; what has none, a service, seldom gets one.
  private mutating func readJobControl(at now: Instant) {
    if !hasTerminal, let lastStat, now - lastStat < Self.mostUnread { return }
    lastStat = now
    guard let count = try? stat.read(into: &buffer),
      let record = ThreadStat(buffer.span.extracting(first: count))
    else { return }
    (facts.isInBackground, hasTerminal) = (record.isInBackground, record.terminal != 0)
  }
}

extension SchedulerClock {
  fileprivate func moment(_ moment: UInt64) -> Instant? {
    monotonicNanoseconds(of: moment).map { Instant(nanoseconds: $0) }
  }
}

extension ThreadObservation {
  /// Without what only a clock or the target's memory can tell.
  init(_ sample: TaskSample) {
    let thread = sample.thread
    self.init(
      at: Instant(nanoseconds: sample.atNanoseconds), state: ThreadState(rawValue: thread.state) ?? .sleeping,
      activity: Activity(thread), cpuTime: .nanoseconds(Int64(clamping: thread.runNanoseconds)),
      runQueueDelay: .nanoseconds(Int64(clamping: sample.runQueueDelayNanoseconds)),
      timesScheduled: thread.timesScheduled, voluntarySwitches: sample.voluntarySwitches)
    (userTicks, kernelTicks) = (sample.userTicks, sample.systemTicks)
    if sample.isFrozen, !state.isPaused { state = .frozen }
  }
}

extension Activity {
  /// What `/proc/PID/task/TID/syscall` would say.
  fileprivate init(_ thread: ThreadSample) {
    if thread.hasEnded {
      self = .blockedOutsideCall(stackPointer: 0, programCounter: 0)
    } else if thread.isRunnable || !thread.isOffProcessor {
      self = .running
    } else if thread.isKernelThread || !thread.isWide {
      self = .unknown
    } else {
      self.init(blockedWith: thread.registers)
    }
  }

  /// The kernel keeps the number of the call in `orig_rax`, and −1 where there is none (arch/x86/entry/calling.h).
  private init(blockedWith registers: KernelRegisters) {
    let number = Int(Int32(truncatingIfNeeded: registers[.originalRax]))
    let (stackPointer, programCounter) = (registers[.rsp], registers[.rip])
    if number < 0 {
      self = .blockedOutsideCall(stackPointer: stackPointer, programCounter: programCounter)
      return
    }
    self = .blocked(
      BlockedCall(
        number: number,
        arguments: InlineArguments(
          registers[.rdi], registers[.rsi], registers[.rdx], registers[.r10], registers[.r8], registers[.r9]),
        stackPointer: stackPointer, programCounter: programCounter))
  }
}
