// Sees a loop come round although it never sleeps: a breakpoint behind its wait, armed again and again.

package import Linux
package import StallCore

/// Belongs to one thread, which it may slow down by no more than its `DisturbanceBudget` allows. Nothing is allocated in a
/// look. When the thread ends or executes another program, nothing more is seen, and that is no error.
package struct PassMonitor: ~Copyable {
  private let threadID: Int32
  /// Keeps perf events switched on in the kernel, so that arming is quick. On our own thread: on the target's it would
  /// cost at each of its switches.
  private let keeper: PerfEvent?
  private var address: UInt64?
  private var stackPointers: [UInt64] = []
  private var wrappers: [WaitWrapper] = []
  /// By waits of the home's that came round. A function can wait in several places: that of the C library waits elsewhere as
  /// soon as there is a second thread.
  private var learned: [WaitWrapper] = []
  private static let mostLearned = 4
  /// At the last look the thread was there, in a wait of the home's of which no wrapper is known.
  private var homeWait: SeenWait?
  /// At the last look the thread was in a foreign wait of the same code, which returns with this stack pointer.
  private var foreignReturn: SeenWait?
  private var budget = DisturbanceBudget()
  private var breakpoint: ExecutionBreakpoint?
  private var timesScheduledWhenArmed: UInt64 = 0
  private var lastTimesScheduled: UInt64?
  private var unreadLooks = 0
  private static let mostUnreadLooks = 8
  private var lastPass: Instant?
  /// The first one since the last look.
  private var firstPass: Instant?
  /// Every fire since would have been seen, and there was none.
  private var quietSince: Instant?
  private var count = PassCount()

  /// Why it could not be armed the last time.
  package private(set) var refusal: ExecutionBreakpoint.Refusal?
  /// Where the stack was at the last fire that was none of the home's: perhaps a dialog of the same loop.
  package private(set) var strangeStackPointer: UInt64?

  /// Takes 10 to 20 ms if nobody on this machine uses perf events.
  package init(thread: Int32) {
    threadID = thread
    keeper = try? PerfEvent(PerfEventAttributes(.dummy), thread: 0, dataPages: 0)
    learned.reserveCapacity(Self.mostLearned)
  }

  package var hasHome: Bool { address != nil }

  /// It is armed, or was refused: another look at a thread that has not moved would change nothing.
  package var isSettled: Bool { !hasHome || breakpoint != nil || refusal != nil }

  /// The home's wait returns to this address in the loop's own frame, which has one of these stack pointers there.
  package mutating func setHome(address: UInt64, stackPointers: [UInt64], wrappers: [WaitWrapper]) {
    if address != self.address { forgetHome() }
    self.address = address
    self.stackPointers = stackPointers
    self.wrappers = wrappers
  }

  package mutating func forgetHome() {
    disarm()
    address = nil
    (stackPointers, wrappers) = ([], [])
    learned.removeAll(keepingCapacity: true)
    lastPass = nil
    strangeStackPointer = nil
  }

  /// What is known at this look; a pass may be some microseconds later than that. `wait`: the thread is blocked there.
  /// `isHeldUp`: it has been at one piece of work for a good part of the threshold.
  package mutating func look(
    at look: ThreadObservation, wait: LoopWait?, isHeldUp: Bool
  ) -> PassSight? {
    guard let address else { return nil }
    let (now, timesScheduled) = (look.at, look.timesScheduled)
    budget.refill(at: now, isHeldUp: isHeldUp)
    firstPass = nil
    // A thread that is where it was has not passed. That it was killed the count does not show.
    let hasNotMoved = look.isBlocked && timesScheduled == lastTimesScheduled
    unreadLooks = hasNotMoved ? unreadLooks + 1 : Self.mostUnreadLooks
    if breakpoint != nil, unreadLooks >= Self.mostUnreadLooks {
      read(until: now, timesScheduled)
      unreadLooks = 0
    }
    if let wait, !hasNotMoved || foreignReturn == nil && homeWait == nil { note(wait, at: now) }
    lastTimesScheduled = look.isBlocked ? timesScheduled : nil
    if !hasHome { return nil }
    if budget.isOverdrawn {
      disarm()
    } else if breakpoint == nil, let fires = budget.firesAllowed {
      arm(at: address, fires, timesScheduled)
    }
    let quiet = quietSince.flatMap { $0 <= now ? $0 : nil }
    if lastPass == nil, quiet == nil { return nil }
    var sight = PassSight(
      source: .breakpoint, firstPass: firstPass, lastPass: lastPass, quietSince: quiet)
    (sight.count, sight.longestRound) = (count.seen, count.longestDistance)
    count = PassCount()
    return sight
  }

  private mutating func arm(at address: UInt64, _ fires: Int32, _ timesScheduled: UInt64) {
    do throws(ExecutionBreakpoint.Refusal) {
      let armed = try ExecutionBreakpoint(thread: threadID, address: address, fires: fires)
      budget.spend(DisturbanceBudget.arming)
      quietSince = Instant(nanoseconds: armed.armedAtNanoseconds)
      timesScheduledWhenArmed = timesScheduled
      breakpoint = consume armed
      refusal = nil
    } catch { refusal = error }
  }

  private mutating func disarm() {
    breakpoint = nil
    seeNothing()
  }

  private mutating func seeNothing() {
    quietSince = nil
    (foreignReturn, homeWait) = (nil, nil)
  }

  private mutating func read(until now: Instant, _ timesScheduled: UInt64) {
    guard var armed = breakpoint.take() else { return }
    var fires = 0
    var isComplete = true
    var last = Instant(nanoseconds: armed.armedAtNanoseconds)
    while let sight = armed.next(until: now.nanoseconds) {
      guard case .fire(let fire) = sight else {
        isComplete = false
        break
      }
      fires += 1
      last = Instant(nanoseconds: fire.atNanoseconds)
      note(fire, at: last)
    }
    let isOver = armed.isUsedUp || !isComplete
    let scheduled = timesScheduled &- timesScheduledWhenArmed
    budget.spend(fires: fires, scheduled: isOver ? Self.share(of: scheduled, armed, last, now) : scheduled)
    timesScheduledWhenArmed = timesScheduled
    // What came by since the last look had not ended by then: the next one asks.
    if fires == 0, armed.hasEnded { return forgetHome() }
    if isOver { seeNothing() } else { breakpoint = consume armed }
  }

  private mutating func note(_ wait: LoopWait, at moment: Instant) {
    switch wait {
    case .foreign(let call):
      guard let pointer = stackPointer(behind: call) else { return }
      foreignReturn = SeenWait(stackPointer: pointer, seenAt: moment)
    case .home(let call):
      guard learned.count < Self.mostLearned, stackPointer(behind: call) == nil else { return }
      homeWait = SeenWait(
        stackPointer: call.stackPointer, programCounter: call.programCounter, seenAt: moment)
    }
  }

  /// The wait in which the last look found the thread has to return before anything else.
  private mutating func learn(from fire: ExecutionBreakpoint.Fire, at moment: Instant) {
    guard let wait = homeWait.take(), isPass(fire), moment - wait.seenAt >= Self.longestLook,
      fire.stackPointer > wait.stackPointer, fire.stackPointer - wait.stackPointer <= Self.largestFrame
    else { return }
    learned.append(
      WaitWrapper(
        callProgramCounter: wait.programCounter, frameSize: fire.stackPointer - wait.stackPointer))
  }

  /// Wrappers of system calls keep little on the stack.
  private static let largestFrame: UInt64 = 4096

  /// A strange stack pointer may be the loop's all the same, in a dialog: what is certain is that nothing came after it. But
  /// the foreign wait in which the last look found the thread has to return before anything else.
  private mutating func note(_ fire: ExecutionBreakpoint.Fire, at moment: Instant) {
    learn(from: fire, at: moment)
    let isForeign = isForeign(fire, at: moment)
    foreignReturn = nil
    if isPass(fire) {
      count.add(at: moment, quietSince: quietSince)
      lastPass = moment
      firstPass = firstPass ?? moment
    } else {
      strangeStackPointer = fire.stackPointer
    }
    if !isForeign { quietSince = moment }
  }

  /// Further out than the loop is no callback of it: an interpreter comes to the same wait with fewer frames once it has
  /// optimized its code, and a thread that has left the loop is no longer held up by it.
  private func isPass(_ fire: ExecutionBreakpoint.Fire) -> Bool {
    stackPointers.contains(fire.stackPointer) || stackPointers.allSatisfy { fire.stackPointer > $0 }
  }

  /// A look speaks of a moment somewhat later than its time.
  private static let longestLook: Duration = .milliseconds(1)

  private func isForeign(_ fire: ExecutionBreakpoint.Fire, at moment: Instant) -> Bool {
    guard let foreignReturn, !isPass(fire) else { return false }
    return fire.stackPointer == foreignReturn.stackPointer
      && moment - foreignReturn.seenAt >= Self.longestLook
  }

  private func stackPointer(behind call: BlockedCall) -> UInt64? {
    let known =
      wrappers.last { $0.callProgramCounter == call.programCounter }
      ?? learned.last { $0.callProgramCounter == call.programCounter }
    return known.map { call.stackPointer &+ $0.frameSize }
  }

  /// The part of the thread's switches that fell into the time until it was used up.
  private static func share(
    of scheduled: UInt64, _ armed: borrowing ExecutionBreakpoint, _ last: Instant, _ now: Instant
  ) -> UInt64 {
    let armedFor = (last - Instant(nanoseconds: armed.armedAtNanoseconds)).seconds
    let all = (now - Instant(nanoseconds: armed.armedAtNanoseconds)).seconds
    return all > 0 ? UInt64(Double(min(scheduled, 1 << 40)) * min(1, max(0, armedFor / all))) : 0
  }
}

/// Where a look finds a loop's thread blocked.
package enum LoopWait: Sendable {
  case home(BlockedCall)
  /// That is certainly no wait of the home's.
  case foreign(BlockedCall)
}

/// A foreign wait of the same code as the home's, by where it will return; or one of the home's, by where it is.
private struct SeenWait {
  var stackPointer: UInt64
  var programCounter: UInt64 = 0
  var seenAt: Instant
}
