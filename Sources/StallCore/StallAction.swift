// What is to be done about a stall after a look.

/// What the caller has to do after a look. The detector itself touches nothing.
package enum StallAction: Sendable, Equatable {
  case none
  /// Capture the thread now, then report the stall as ongoing.
  case captureAndReport(Stall)
  /// Report the end of the episode (or a stall that was over before it could be certain).
  case report(Stall)
}
