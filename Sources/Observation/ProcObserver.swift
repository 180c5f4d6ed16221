// Looks at one thread through `/proc`: held-open files, a few reads, no allocation.

package import Linux
package import StallCore

/// Reads target memory into the front of the buffer; false if it could not be had in time. Must not block for long.
package typealias MemoryReader = (_ address: UInt64, _ length: Int, _ buffer: inout [UInt8]) -> Bool

package struct ProcObserver: ~Copyable {
  private let stat: PseudoFile
  private let statistics: PseudoFile
  private var waits: WaitView
  /// `sched` where the kernel has it; elsewhere the switch counts come from `status`.
  private let detail: PseudoFile?
  private let status: PseudoFile
  private var runQueueClock: RunQueueClock?
  /// Of the groups that the process was in at the start.
  private let freezer: CgroupFreezer?
  private var buffer = PseudoFile.makeBuffer()
  private var memory = [UInt8](repeating: 0, count: DescriptorReader.mostBytes)

  private var descriptors = DescriptorCache()
  package private(set) var facts = LookFacts()
  private var accountedAt: UInt64 = 0
  private var ticks: (user: UInt64, kernel: UInt64) = (0, 0)
  private var processor: Int32 = 0
  private var last: ThreadObservation?
  /// The last look that did not find the present block.
  private var lastElsewhere: Instant?
  /// As the kernel tells it, which has no letter for a frozen thread.
  private var lastState = ThreadState.sleeping
  private var lastFullLook = Instant(nanoseconds: 0)
  /// Rights, and the freezer's word for a thread that it found asleep, can change without the thread's doing.
  private static let mostUnread = Duration.seconds(2)
  /// Some ten microseconds, where nothing comes between.
  private static let longestReading: Duration = .microseconds(300)
  /// A thread that moves while it is looked at is looked at again.
  private static let mostAttempts = 3

  /// `seesWaits` is false where only states and CPU time are wanted.
  package init(process: Int32, thread: Int32, seesWaits: Bool = true) throws(Errno) {
    let directory = "/proc/\(process)/task/\(thread)/"
    let stat = try PseudoFile(directory + "stat")
    let statistics = try PseudoFile(directory + "schedstat")
    let status = try PseudoFile(directory + "status")
    self.stat = stat
    self.statistics = statistics
    self.status = status
    detail = try? PseudoFile(directory + "sched")
    waits = WaitView(process: process, thread: thread, asks: seesWaits)
    runQueueClock = try? RunQueueClock()
    freezer = try? CgroupFreezer(process: process)
  }

  /// One look. A thread that was blocked and was not scheduled in since is where it was, and needs no more than its count;
  /// if its time counts (`isAtWork`), also its state, since it may be frozen there, or thawed.
  package mutating func look(isAtWork: Bool, readMemory: MemoryReader) throws(Errno) -> ThreadObservation {
    let now = Instant(nanoseconds: Clock.monotonicNanoseconds)
    let counts = try readStatistics()
    if var unmoved = last, unmoved.isBlocked, unmoved.timesScheduled > 0,
      now - lastFullLook < Self.mostUnread, counts.timesScheduled == unmoved.timesScheduled
    {
      let hasChangedState = isAtWork ? try readStat().state != lastState.rawValue : false
      if !hasChangedState {
        unmoved.at = now
        return unmoved
      }
    }
    let observation = try lookAnew(at: now, counts, readMemory: readMemory)
    lastElsewhere = observation.lastElsewhere(after: last) ?? lastElsewhere
    (last, lastFullLook) = (observation, observation.at)
    return observation
  }

  /// Nil if the thread is not where the last full look found it blocked, or that look was long ago: then look.
  package mutating func restsStill() -> Instant? {
    guard let last, last.isBlocked, last.timesScheduled > 0 else { return nil }
    let now = Instant(nanoseconds: Clock.monotonicNanoseconds)
    guard now - lastFullLook < Self.mostUnread,
      (try? readStatistics().timesScheduled) == last.timesScheduled
    else { return nil }
    return now
  }

  /// The files are read one after the other, so the times-scheduled count is read first and last: if it is the
  /// same and the thread was off the CPU, they all speak of the same block.
  private mutating func lookAnew(
    at moment: Instant, _ counts: SchedulerStatistics, readMemory: MemoryReader
  ) throws(Errno) -> ThreadObservation {
    var observation = try read(at: moment, counts, readMemory: readMemory)
    // Somebody else had the CPU in between: what was read first and what was read last are not of one moment. Where the
    // thread is off the CPU, its own count tells.
    for _ in 0..<2 where !observation.isBlocked && isStale(observation) {
      observation = try read(readMemory: readMemory)
    }
    var attempts = 0
    while observation.isBlocked, try !confirm(&observation) {
      attempts += 1
      guard attempts < Self.mostAttempts else {
        observation.activity = .running
        break
      }
      observation = try read(readMemory: readMemory)
    }
    if observation.isBlocked, !observation.state.isPaused,
      freezer?.isFrozen(&buffer) ?? false || waits.isInFreezer(observation.state, &buffer)
    {
      observation.state = .frozen
    }
    return observation
  }

  /// That the thread was blocked at the moment that the look gets: when the reading began it may have been running, and
  /// somebody else have had the CPU since. So its times are those of now, too.
  private mutating func confirm(_ observation: inout ThreadObservation) throws(Errno) -> Bool {
    let now = Instant(nanoseconds: Clock.monotonicNanoseconds)
    let counts = try readStatistics()
    guard counts.timesScheduled == observation.timesScheduled else { return false }
    observation.at = now
    observation.setTimes(counts)
    return true
  }

  private func isStale(_ observation: ThreadObservation) -> Bool {
    Instant(nanoseconds: Clock.monotonicNanoseconds) - observation.at > Self.longestReading
  }

  /// When the block of the last look began; nil if the thread was not blocked or the kernel does not tell.
  package mutating func blockStart(of look: ThreadObservation) -> BlockStart? {
    guard look.isBlocked, accountedAt > 0, isStillBlocked(look),
      let moment = runQueueClock?.monotonicNanoseconds(ofRunQueue: accountedAt, onProcessor: processor)
    else { return nil }
    let start = BlockStart(
      latest: Instant(nanoseconds: moment.latest), earliest: moment.earliest.map { Instant(nanoseconds: $0) })
    return BlockStart(by: start, after: lastElsewhere, at: look.at)
  }

  /// It was not woken before all of the look was read: a thread that is woken may be given to another CPU before it is
  /// scheduled in, and then what the old one's clock showed when it left and the number of the new one do not belong together.
  private mutating func isStillBlocked(_ look: ThreadObservation) -> Bool {
    guard let state = try? readStat().state, ThreadState(rawValue: state) != .running else { return false }
    return (try? readStatistics().timesScheduled) == look.timesScheduled
  }

  private mutating func read(readMemory: MemoryReader) throws(Errno) -> ThreadObservation {
    let now = Instant(nanoseconds: Clock.monotonicNanoseconds)
    return try read(at: now, readStatistics(), readMemory: readMemory)
  }

  private mutating func read(
    at now: Instant, _ counts: SchedulerStatistics, readMemory: MemoryReader
  ) throws(Errno) -> ThreadObservation {
    let call = try waits.call(at: now, &buffer)
    let (state, voluntarySwitches) = try readState()
    let activity = call ?? waits.kind(in: state, &buffer)
    facts.sight = waits.sight
    var observation = ThreadObservation(
      at: now, state: state, activity: activity, cpuTime: .zero, runQueueDelay: .zero,
      timesScheduled: counts.timesScheduled, voluntarySwitches: voluntarySwitches)
    observation.setTimes(counts)
    (observation.userTicks, observation.kernelTicks) = ticks
    if case .blocked(let call) = activity {
      observation.descriptors = descriptors.descriptors(of: call, block: counts.timesScheduled, at: now) {
        DescriptorReader.descriptors(of: call, memory: &memory, read: readMemory)
      }
    }
    return observation
  }

  private mutating func readStatistics() throws(Errno) -> SchedulerStatistics {
    let count = try statistics.read(into: &buffer)
    guard let parsed = SchedulerStatistics(buffer.span.extracting(first: count)) else { throw .inputOutput }
    return parsed
  }

  private mutating func readStat() throws(Errno) -> ThreadStat {
    let recordCount = try stat.read(into: &buffer)
    guard let record = ThreadStat(buffer.span.extracting(first: recordCount)) else { throw .inputOutput }
    return record
  }

  private mutating func readState() throws(Errno) -> (ThreadState, UInt64) {
    let record = try readStat()
    processor = record.processor
    facts.image = record.image
    (facts.isInBackground, facts.majorFaults) = (record.isInBackground, record.majorFaults)
    ticks = (record.userTicks, record.systemTicks)
    let state = ThreadState(rawValue: record.state) ?? .sleeping
    lastState = state
    if let switches = try readDetail() { return (state, switches) }
    let count = try status.read(into: &buffer)
    return (state, ProcessStatus(buffer.span.extracting(first: count)).voluntarySwitches ?? 0)
  }

  private mutating func readDetail() throws(Errno) -> UInt64? {
    guard let count = try detail?.read(into: &buffer),
      let parsed = SchedulerDetail(buffer.span.extracting(first: count))
    else { return nil }
    accountedAt = parsed.accountedAtNanoseconds
    return parsed.voluntarySwitches
  }
}

extension ThreadObservation {
  fileprivate mutating func setTimes(_ counts: SchedulerStatistics) {
    cpuTime = .nanoseconds(Int64(clamping: counts.runNanoseconds))
    runQueueDelay = .nanoseconds(Int64(clamping: counts.runQueueDelayNanoseconds))
  }
}
