// The watch thread's part in finding the loop: asks what the stack says of a wait, and keeps the answers.

internal import Reports
internal import Stacks
internal import StallCore

/// Of one thread. The first answers come some looks after the first look; until then waits alone decide.
struct HomeInquiry: ~Copyable {
  private var questions = HomeQuestions()
  private var known: [HomeStack] = []
  private var open = 0
  /// When the process that names stacks has been without a question for long enough.
  private var restsAt: Instant?

  private static let mostKnown = 16
  private static let restsAfter: Duration = .seconds(1)

  /// Takes in what has been found out; false if there was nothing. Call before a look is judged.
  mutating func takeAnswers(
    _ answers: HomeAnswers, for thread: Int32, at moment: Instant, learn: (WaitMeaning, Site) -> Void
  ) -> Bool {
    let before = open
    while open > 0, let answer = answers.take(for: thread) {
      open -= 1
      if known.count >= Self.mostKnown { known.removeFirst() }
      known.append(answer)
      learn(answer.reading.meaning, answer.site)
      restsAt = moment + Self.restsAfter
    }
    return open != before
  }

  /// Copies the thread in a wait that nothing is known of. Call after a look was judged; never at the first one, which
  /// has to be there soon.
  mutating func ask(
    in model: EventLoopModel, after look: ThreadObservation, _ thread: ThreadRecord, _ camera: ThreadCamera
  ) -> (site: Site, thread: CapturedThread)? {
    guard case .blocked = look.activity, let site = questions.next(in: model, at: look.at) else { return nil }
    let copy = camera.copyWaiting(thread.threadID, role: thread.role, look: model.naming(look))
    guard case .success = copy.result else {
      questions.takeBack(site)
      return nil
    }
    open += 1
    restsAt = nil
    return (site, copy)
  }

  /// Once, when nothing was asked for some time.
  mutating func isAtRest(at moment: Instant) -> Bool {
    guard open == 0, let time = restsAt, moment >= time else { return false }
    restsAt = nil
    return true
  }

  /// A new program runs in the process.
  mutating func forget() { self = HomeInquiry() }

  /// An answer is on its way.
  var isWaiting: Bool { open > 0 }

  /// Where the waits on a home return to, newest last.
  func returns(of home: HomeCandidate) -> [(site: Site, returnsTo: WaitReturn)] {
    known.filter { home.matches($0.site) && $0.reading.meaning != .work }.compactMap { stack in
      stack.reading.returnsTo.map { (stack.site, $0) }
    }
  }

  /// What was found out about the waits on a home; the newest that tells of a loop, if one does.
  func reading(of home: HomeCandidate) -> StackReading? {
    let readings = known.filter { home.matches($0.site) }.map(\.reading)
    return readings.last { $0.meaning == .loop } ?? readings.last
  }
}
