// What is to be done about a stall after a look.

/// What the caller has to do after a look. The detector itself touches nothing.
package enum StallAction: Sendable, Equatable {
  case none
  /// Capture the thread now, then report the stall as ongoing.
  case captureAndReport(Stall)
  /// Report the end of the episode (or a stall that was over before it could be certain).
  case report(Stall)

  /// The same, with what else is known of the stall.
  package func with(_ add: (inout Stall) -> Void) -> StallAction {
    switch self {
    case .none: return .none
    case .captureAndReport(var stall):
      add(&stall)
      return .captureAndReport(stall)
    case .report(var stall):
      add(&stall)
      return .report(stall)
    }
  }
}
