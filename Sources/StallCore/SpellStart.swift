// When the work that a look shows can have begun.

struct SpellStart: Sendable {
  /// Nil: nothing bounds it.
  var earliest: Instant?
  var likely: Instant
  var latest: Instant
  /// The last two, if the thread was at work at that look. It had slept and was running, so it may as well have been about
  /// to return from the loop's own wait: what would see it pass had not seen it yet.
  var ifAtWork: (likely: Instant, latest: Instant)?

  /// The run time of a running thread is brought up to date once per tick, 10 ms at CONFIG_HZ=100; a tick comes late when
  /// the hypervisor takes the CPU.
  private static let longestTick: Duration = .milliseconds(25)

  /// `parked` is the last look before it that found the loop parked, or other work.
  init(of first: ThreadObservation, after parked: ThreadObservation?) {
    // What a look right after a capture took for the same block has ended before it.
    let isMistaken = first.passes?.firstPass.map { $0 < parked?.at ?? $0 } ?? false
    let parked = isMistaken ? nil : parked
    self.init(countedFor: first, after: parked)
    guard let sight = first.passes, let pass = sight.lastPass, pass > parked?.at ?? Instant(nanoseconds: 0)
    else { return }
    let passedAfter = sight.lastPassAfter ?? pass
    earliest = passedAfter
    guard sight.isQuiet(since: pass) else {
      // More passes may have come after it.
      (likely, latest) = (max(likely, pass), max(latest, sight.quietSince ?? pass))
      return
    }
    let seen = (likely: sight.lastPassAfter == nil ? pass : min(max(likely, passedAfter), pass), latest: pass)
    let didNotSleep = parked.map { first.voluntarySwitches == $0.voluntarySwitches } ?? false
    if first.isBlocked || didNotSleep {
      (likely, latest) = seen
    } else {
      ifAtWork = seen
      (likely, latest) = (max(likely, pass), max(latest, pass))
    }
  }

  /// By the counts of the kernel alone.
  ///
  /// If the thread did not sleep since the park, it has been running or runnable since it left: start = now − CPU time −
  /// run-queue delay. If its only sleep is the present one, the same counted back from where that one began. Run time of
  /// a running thread may be one tick old, which only makes the start later than it was.
  init(countedFor first: ThreadObservation, after parked: ThreadObservation?) {
    let workedUntil = first.isBlocked ? first.blockedSince ?? first.at : first.at
    (likely, latest) = (workedUntil, workedUntil)
    guard let parked else { return }
    if let woken = first.wakeUp(from: parked) {
      (earliest, likely, latest) = (woken.earliest, woken.likely, woken.likely)
      return
    }
    earliest = parked.at
    let work = first.cpuTime - parked.cpuTime + first.runQueueDelay - parked.runQueueDelay
    let countedBack = max(parked.at, workedUntil - work)
    let sleeps = first.voluntarySwitches &- parked.voluntarySwitches
    guard sleeps == (first.isBlocked ? 1 : 0) else {
      if !first.isBlocked { likely = countedBack }
      return
    }
    (likely, latest) = (countedBack, countedBack)
    if !first.isBlocked {
      earliest = max(parked.at, countedBack - Self.longestTick)
    } else if first.blockedSince != nil {
      earliest = max(
        parked.at, countedBack - first.blockedSinceTolerance - ThreadObservation.mostStolen(ofRun: work))
    }
  }
}
