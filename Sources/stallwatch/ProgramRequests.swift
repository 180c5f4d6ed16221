// What the program that we started was asked to do by signals that we saw, and what became of it.

internal import Glibc
internal import Linux
internal import StallCore

/// Filled by `ProgramKeeper`, emptied by the watch; both on the watch thread.
final class ProgramRequests {
  private var facts: [PhaseFact] = []

  /// This signal reached the program, by way of us or of the terminal that we share.
  func note(_ signal: Int32) {
    switch signal {
    case SIGTERM: facts.append(.askedToQuit(at: .now, mayGoOn: false))
    case SIGINT: facts.append(.askedToQuit(at: .now, mayGoOn: true))
    case SIGTSTP: facts.append(.askedToStop(at: .now))
    default: break
    }
  }

  func noteStop() { facts.append(.stopped(at: .now)) }

  func take() -> [PhaseFact] {
    if facts.isEmpty { return [] }
    defer { facts.removeAll(keepingCapacity: true) }
    return facts
  }
}
