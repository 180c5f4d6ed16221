// A stack that could not be copied for a passing reason, and is tried for again while the stall lasts.

internal import Stacks
internal import StallCore

struct MissingStack {
  /// The stall whose stack is still wanted.
  private(set) var stall: Stall?
  private var attempts = 0

  /// With looks ten times a threshold, tries for the first half of one.
  private static let mostAttempts = 5

  mutating func note(_ thread: CapturedThread, of stall: Stall) {
    if self.stall?.id != stall.id { attempts = 0 }
    guard case .failure(let failure) = thread.result, failure.isPassing, attempts < Self.mostAttempts else {
      self.stall = nil
      return
    }
    self.stall = stall
    attempts += 1
  }
}
