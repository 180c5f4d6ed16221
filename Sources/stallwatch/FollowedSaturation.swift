// What becomes of a followed loop that is busy without a break, while it comes round all the same.

internal import Reports
internal import StallCore

extension FollowedThread {
  func perform(_ action: SaturationAction, _ look: ThreadObservation?) {
    switch action {
    case .none: break
    case .captureAndReport(let saturation):
      sample(saturation, look)
      report(saturation)
    case .capture(let saturation): sample(saturation, look)
    case .report(let saturation): report(saturation)
    }
  }

  /// Stands for the time since the look before.
  private func sample(_ saturation: Saturation, _ look: ThreadObservation?) {
    let thread = context.camera.capture(
      subject.threadID, role: subject.role, look: look.map(detector.loop.naming))
    absorb(thread)
    context.queue.push(
      .saturationSample(
        episode: numbers.number(of: saturation.id, context), thread, weight: detector.alertInterval, loop: [])
    )
  }

  private func report(_ saturation: Saturation) {
    var told = saturation
    told.id = numbers.number(of: saturation.id, context)
    if told.state != .ongoing { numbers.end(saturation.id) }
    context.queue.push(.saturation(told, subject))
  }
}
