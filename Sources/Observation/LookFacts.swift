// What a look tells beside what it saw of the thread.

package import Linux

/// In one piece, so that it is handed on in one piece: an observer is large.
package struct LookFacts: Sendable {
  /// What could be seen of waits.
  package var sight = WaitSight.calls
  /// The program that the thread ran.
  package var image: ImageMark?
  /// Of the process, by the last look that read it: at most two seconds ago.
  package var isInBackground = false
  /// The same of the thread.
  package var majorFaults: UInt64 = 0
}
