// How the stack of a followed thread is copied when it stalls, and the number that its reports bear.

internal import Reports
internal import Stacks
internal import StallCore

extension FollowedThread {
  func capture(_ stall: Stall, _ look: ThreadObservation?) -> CapturedThread {
    var thread = context.camera.capture(
      subject.threadID, role: subject.role, look: look.map(detector.loop.naming), stall: stall)
    // The stall was over by then: where the loop waits is not where it was stalled.
    if !stall.proof.isOfPhase, let home = detector.loop.home?.site, thread.isBlocked(at: home),
      !hasStayed(thread, since: look)
    {
      thread.result = .failure(.moved)
    }
    if let look, !stall.proof.isOfPhase { sampling.number(&thread, look) }
    absorb(thread)
    return thread
  }

  /// A loop may wait for something else with the same call of the same function as for its events. The stack is of what the
  /// look saw unless the thread has been on a CPU since; a stop puts it there, but leaves it its call.
  private func hasStayed(_ thread: CapturedThread, since look: ThreadObservation?) -> Bool {
    guard let look, look.isBlocked, let after = try? observe(), case .success(let copy) = thread.result
    else { return false }
    return copy.way == .ptrace ? after.isAtSamePlace(as: look) : after.hasNotMoved(since: look)
  }

  /// A stack that could not be had at first, while the stall lasts.
  func captureLate(_ look: ThreadObservation) {
    guard let stall = missingStack.stall, detector.isStalled else { return }
    let thread = capture(stall, look)
    context.queue.push(.lateStack(episode: numbers.number(of: stall.id, context), thread))
    missingStack.note(thread, of: stall)
  }

  func numbered(_ stall: Stall) -> Stall {
    var stall = stall
    if let lastLook { probe.tell(of: &stall, at: lastLook.at) }
    let own = stall.id
    stall.id = numbers.number(of: own, context)
    if stall.state != .ongoing { numbers.end(own) }
    return stall
  }
}
