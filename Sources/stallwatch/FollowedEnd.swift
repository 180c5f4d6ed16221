// When a followed thread's episode is cut short, and what is said when no more looks come.

internal import Reports
internal import StallCore

extension FollowedThread {
  func cutOff(_ reason: Interruption) {
    perform(detector.interrupt(reason), nil)
    perform(detector.saturation, nil)
  }

  /// No more looks will come.
  func end(_ reason: Interruption) {
    let now = context.kept(Instant.now)
    context.recorder?.ended(index, reason, at: now)
    perform(phases.interrupt(reason, at: now, { numbers.newPhase() }), lastLook)
    if reason != .targetExited, detector.isStalled, let lastLook {
      let action = detector.interrupt(reason)
      if case .report(let stall) = action {
        let thread = capture(stall, lastLook)
        tellLastSamples(of: stall.id)
        context.queue.push(.stall(numbered(stall), subject, thread))
      }
      perform(detector.saturation, nil)
    } else {
      cutOff(reason)
    }
  }
}
