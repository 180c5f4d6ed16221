// The answer to what a wait means, found on its stack, and its way from the report thread back to the watch thread.

internal import StallCore
internal import Synchronization

/// What the stack of a thread said of the wait that it was found in.
struct HomeStack: Sendable {
  var threadID: Int32
  var site: Site
  var reading: StackReading
}

/// A mailbox that nobody waits at: the watch thread looks into it at each look.
final class HomeAnswers: Sendable {
  private let waiting = Mutex<[HomeStack]>([])

  /// Beyond this the oldest are lost, and their waits stay unknown.
  private static let most = 16

  func put(_ answer: HomeStack) {
    waiting.withLock { answers in
      if answers.count >= Self.most { answers.removeFirst() }
      answers.append(answer)
    }
  }

  /// The oldest answer for a thread, if there is one.
  func take(for thread: Int32) -> HomeStack? {
    waiting.withLock { answers in
      answers.firstIndex { $0.threadID == thread }.map { answers.remove(at: $0) }
    }
  }
}
