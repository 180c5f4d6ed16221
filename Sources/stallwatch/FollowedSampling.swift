// When a followed thread is sampled between the captures for its records, and when the report thread is told of it.

internal import Linux
internal import Reports
internal import Stacks
internal import StallCore

extension FollowedThread {
  /// After a look was judged, and before what follows from it is done.
  func sampleStacks(_ look: ThreadObservation, blockedSince: Instant?, _ action: StallAction) {
    if case .report(let stall) = action, sampling.isOn {
      sampling.look(
        look, subject, blockedSince: nil, spellStart: nil, looksApart: detector.alertInterval,
        end: stall.startedAt + stall.duration.likely)
      return
    }
    guard detector.mayBeStalled(at: look.at), context.camera.maySample else { return sampling.end() }
    sampling.look(
      look, subject, blockedSince: look.blockedSince ?? blockedSince, spellStart: detector.spellStart,
      looksApart: detector.alertInterval)
    if action == .none, sampling.wantsCopy(at: look.at) { copyBlock(look) }
    if let stall = sampling.stall, sampling.hasUntoldStacks { tellSamples(of: stall) }
  }

  private func copyBlock(_ look: ThreadObservation) {
    var copy = context.camera.capture(
      subject.threadID, role: subject.role, isSample: true, look: detector.loop.naming(look))
    // A stack pointer alone does not tell two calls of one function apart.
    if let after = try? observe(), !after.hasNotMoved(since: look) { copy.result = .failure(.moved) }
    sampling.number(&copy, look)
    sampling.take(copy)
  }

  /// The stall that is going on, while there is something to capture.
  func captureStall() {
    guard detector.isStalled else { return }
    look(dueAt: .now)
    guard let stall = detector.ongoing else { return }
    context.queue.push(.lateStack(episode: numbers.number(of: stall.id, context), capture(stall, lastLook)))
  }

  /// The stall is over.
  func tellLastSamples(of stall: Int) {
    sampling.finish()
    tellSamples(of: stall)
    sampling.end()
  }

  /// Before a record of it, so that the record can speak of them.
  func tellSamples(of stall: Int) {
    guard let stretch = sampling.tell(of: stall) else { return }
    context.queue.push(.samples(episode: numbers.number(of: stall, context), stretch))
  }
}
