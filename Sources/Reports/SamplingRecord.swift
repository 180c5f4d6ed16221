// What the weights of a record's stacks rest on.

package import StallCore

package struct SamplingRecord: Sendable, Encodable, Equatable {
  /// Copies of the thread, of which equal ones are one stack of the record.
  let samples: Int
  /// The time that they stand for, all together.
  let covered: Milliseconds
  /// The part of it that no stack of the record stands for.
  let other: Milliseconds

  /// Nil where no stack has a weight.
  package init?(_ shares: StackShares) {
    guard shares.heaviestFirst.first != nil else { return nil }
    samples = shares.samples
    covered = Milliseconds(shares.weight)
    other = Milliseconds(shares.other)
  }

  private enum CodingKeys: String, CodingKey {
    case samples
    case covered = "covered_ms"
    case other = "other_ms"
  }
}
