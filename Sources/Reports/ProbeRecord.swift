// What probes from outside have shown, as records and as text.

package import StallCore

/// Of one question.
struct ProbeWaitRecord: Encodable {
  private let wait: ProbeWait

  init(_ wait: ProbeWait) { self.wait = wait }

  private enum CodingKeys: String, CodingKey {
    case answer = "answer_ms"
    case unanswered = "unanswered_ms"
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch wait {
    case .answered(let time): try container.encode(Milliseconds(time), forKey: .answer)
    case .unanswered(let time): try container.encode(Milliseconds(time), forKey: .unanswered)
    }
  }
}

extension ProbeWait {
  var spoken: String {
    switch self {
    case .answered(let time): "probe: answered after \(time.spoken)"
    case .unanswered(let time): "probe: unanswered for \(time.spoken)"
    }
  }
}

/// Of all questions.
package struct ProbeSummary: Sendable, Encodable {
  let address: EscapedText
  let answers: Int
  let failures: Int
  let median: Milliseconds?
  let percentile99: Milliseconds?
  let longest: Milliseconds?

  package init(_ address: String, _ log: ProbeLog) {
    self.address = EscapedText(address)
    (answers, failures) = (log.answers, log.failures)
    median = log.percentile(50).map { Milliseconds($0) }
    percentile99 = log.percentile(99).map { Milliseconds($0) }
    longest = log.answers > 0 ? Milliseconds(log.longest) : nil
  }

  private enum CodingKeys: String, CodingKey {
    case address, answers, failures
    case median = "p50_ms"
    case percentile99 = "p99_ms"
    case longest = "longest_ms"
  }

  var line: String {
    var text = "probe \(address.text): \(counted(answers, "answer"))"
    if let median, let percentile99, let longest {
      text +=
        ", half of them within \(median.duration.spoken), 99 % within \(percentile99.duration.spoken), "
        + "longest \(longest.duration.spoken)"
    }
    return text + (failures > 0 ? ", \(grouped(failures)) failed" : "")
  }
}
