// What a signal that stallwatch receives means for the watch.

enum SignalMeaning {
  case nothing, end, dump, reopenOutput
  /// Asks to end once the target has ended and only reports remain to be written.
  case endOnceOver
  /// Something follows that may end the target: a stall is captured first.
  case captureThen(() -> Void)
  /// The same, with every thread, after a word about it.
  case dumpThen(String, () -> Void)
  /// A word about the time limit.
  case tell(String)
}
