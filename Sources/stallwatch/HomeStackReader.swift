// The report thread's part in finding the loop: has the stack of a wait named, and says what the rules make of it.

internal import Analysis
internal import Linux
internal import StallCore

struct HomeStackReader {
  let rules: LoopRules
  private let answers: HomeAnswers
  private var pending: [(site: Site, stack: PendingStack)] = []

  init(_ rules: LoopRules, _ answers: HomeAnswers) {
    self.rules = rules
    self.answers = answers
  }

  var isIdle: Bool { pending.isEmpty }

  /// Names are enough, and nobody waits for them.
  mutating func ask(_ site: Site, _ thread: CapturedThread, _ analyst: StackAnalyst) {
    // For a moment there are two more processes, and most of what our own start took is not needed again.
    OwnProcess.releaseCodePages()
    pending.append((site, analyst.ask(thread, most: .names)))
    proceed(analyst)
  }

  /// Hands on what is known by now.
  mutating func proceed(_ analyst: StackAnalyst) {
    pending.removeAll { site, pendingStack in
      let (stack, isFinal) = analyst.stack(of: pendingStack, within: .zero)
      if isFinal {
        let reading = rules.reading(of: stack.frames)
        answers.put(HomeStack(threadID: stack.threadID, site: site, reading: reading))
      }
      return isFinal
    }
  }
}
