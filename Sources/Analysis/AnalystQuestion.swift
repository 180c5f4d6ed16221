// What the report thread wants to know of one copied thread, and how far the analyst has come with it.

internal import Linux
internal import Stacks

struct AnalystQuestion {
  let capture: RawCapture
  let maps: SealedBytes
  var depth: AnalysisDepth
  /// The number of those that are asked together with it.
  var group: UInt64?
  /// The bytes of such a one, if they could be read.
  var snapshot: ThreadSnapshot?
  /// That of a sample; 0: it is none.
  var series: UInt64 = 0
  var isSecondTry = false
  var best: Analysis?
  var missing: String?
}

extension AnalystQuestion {
  /// The addresses are known, and no more is asked for.
  var isAnswered: Bool { depth == .addresses && best != nil && missing != nil }
}

extension [UInt64: AnalystQuestion] {
  /// One message is for all of them.
  func ids(askedWith question: AnalystQuestion, _ id: UInt64) -> [UInt64] {
    guard let group = question.group else { return [id] }
    let others = filter { _, other in
      other.group == group && other.maps === question.maps
        && other.capture.sharesStack(with: question.capture)
    }
    return Array(others.keys.sorted().prefix(AnalystOrder.mostQuestions))
  }
}

extension AnalysisDepth {
  var less: Self { Self(rawValue: rawValue - 1) ?? .addresses }

  /// What does not come where this depth was not reached.
  var lost: String {
    switch self {
    case .addresses: "the stack"
    case .names: "names"
    case .lines: "lines"
    }
  }
}
