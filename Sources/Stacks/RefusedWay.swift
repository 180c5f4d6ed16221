// When a way of capturing may be tried again after the kernel, a security module or a filter refused it.

internal import Linux
internal import StallCore

/// A refusal is seldom a matter of one thread, and each can be a line in the kernel's log.
final class RefusedWay {
  private var retry = RetrySpacing()
  private var last: CaptureFailure?

  private var now: Instant { Instant(nanoseconds: Clock.monotonicNanoseconds) }

  /// The last refusal, while it is too early to ask again.
  var refused: CaptureFailure? { retry.isDue(at: now) ? nil : last }

  func succeed() { (retry, last) = (RetrySpacing(), nil) }

  func fail(_ failure: CaptureFailure) {
    guard case .refused(let error) = failure, error.meansNotAllowed else { return }
    last = failure
    retry.refuse(at: now)
  }
}
