// A queue that is served now by this thread, now by that, seen as if it were one thread.

/// Its counts go on where those of the last worker ended. Between two workers it rests in a wait of the kind `mainQueue`.
package struct QueueThread: Sendable {
  private var last: ThreadObservation?
  /// Who works, and what its own counts were when it was first seen to.
  private var worker:
    (id: Int32, seenFirst: ThreadObservation, first: ThreadObservation, last: ThreadObservation)?
  private var nextBlock: UInt64?

  package init() {}

  /// No thread works for it.
  package mutating func rest(at moment: Instant) -> ThreadObservation {
    worker = nil
    return give(moved(to: .blockedByKind(.mainQueue), .sleeping, at: moment))
  }

  /// It could not be looked at, or it waits for a thread.
  package mutating func unknown(at moment: Instant) -> ThreadObservation {
    worker = nil
    return give(moved(to: .unknown, .sleeping, at: moment))
  }

  /// The worker has not moved since it was last seen to work, so it works still, whatever the queue would say. Nil: it has.
  package mutating func stay(_ look: ThreadObservation) -> ThreadObservation? {
    guard let worker, look.hasNotMoved(since: worker.last), var seen = last else { return nil }
    (seen.at, seen.state) = (look.at, look.state)
    seen.passes = nil
    return give(seen)
  }

  /// `look` is at the thread that works for it.
  package mutating func work(_ look: ThreadObservation, of thread: Int32, _ sight: MainQueueSight)
    -> ThreadObservation
  {
    defer { nextBlock = sight.nextBlock }
    guard var worker, worker.id == thread else { return begin(look, of: thread) }
    worker.last = look
    self.worker = worker
    var seen = look
    let (base, own) = (worker.seenFirst, worker.first)
    seen.cpuTime = base.cpuTime + (look.cpuTime - own.cpuTime)
    seen.runQueueDelay = base.runQueueDelay + (look.runQueueDelay - own.runQueueDelay)
    seen.timesScheduled = base.timesScheduled &+ (look.timesScheduled &- own.timesScheduled)
    seen.voluntarySwitches = base.voluntarySwitches &+ (look.voluntarySwitches &- own.voluntarySwitches)
    seen.userTicks = base.userTicks &+ (look.userTicks &- own.userTicks)
    seen.kernelTicks = base.kernelTicks &+ (look.kernelTicks &- own.kernelTicks)
    // Its CPU time is the thread's own.
    seen.arrival = nil
    // The block that came next is not next any more: the one before it is over.
    if let nextBlock, sight.nextBlock != nextBlock { seen.passes = passed(by: look.at) }
    return give(seen)
  }

  private mutating func begin(_ look: ThreadObservation, of thread: Int32) -> ThreadObservation {
    var seen = moved(to: look.activity, look.state, at: look.at)
    seen.descriptors = look.descriptors
    if worker != nil { seen.passes = passed(by: look.at) }
    worker = (thread, seen, look, look)
    return give(seen)
  }

  /// It came round between the last look and this one.
  private func passed(by moment: Instant) -> PassSight {
    PassSight(source: .heartbeat, firstPass: moment, lastPass: moment, lastPassAfter: last?.at)
  }

  /// As if it had slept where no look saw it: nothing is known of how it came there.
  private func moved(to activity: Activity, _ state: ThreadState, at moment: Instant) -> ThreadObservation {
    var next =
      last
      ?? ThreadObservation(
        at: moment, state: state, activity: activity, cpuTime: .zero, runQueueDelay: .zero, timesScheduled: 1,
        voluntarySwitches: 0)
    (next.at, next.state, next.activity) = (moment, state, activity)
    (next.blockStart, next.arrival, next.descriptors, next.passes) = (nil, nil, nil, nil)
    next.timesScheduled &+= 1
    next.voluntarySwitches &+= 2
    return next
  }

  private mutating func give(_ look: ThreadObservation) -> ThreadObservation {
    last = look
    return look
  }
}
