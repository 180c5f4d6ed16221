// Answers for threads that have not moved: their next copy is the same to the last byte.

internal import Stacks
internal import StallCore

/// Bounded, and only good for one list of mappings.
struct KnownStacks {
  private let depth: AnalysisDepth
  private let maxFrames: Int
  private var copies: [Int32: (snapshot: ThreadSnapshot, answer: Int)] = [:]
  private var answers: [Analysis] = []
  private var bytes = 0

  private static let mostBytes = 4 << 20

  init(_ depth: AnalysisDepth, maxFrames: Int) {
    self.depth = depth
    self.maxFrames = maxFrames
  }

  func isFor(_ depth: AnalysisDepth, maxFrames: Int) -> Bool {
    depth == self.depth && maxFrames == self.maxFrames
  }

  /// The number of the answer that a copy of this thread got before.
  func answer(for snapshot: ThreadSnapshot) -> Int? {
    guard let known = copies[snapshot.threadID], known.snapshot.isEqual(to: snapshot) else { return nil }
    return known.answer
  }

  subscript(answer: Int) -> Analysis { answers[answer] }

  /// Names of generated code change under the same addresses.
  mutating func add(_ snapshots: [ThreadSnapshot], _ analysis: Analysis) {
    if analysis.frames.contains(where: \.isGenerated) { return }
    bytes += snapshots.reduce(0) { $0 + $1.byteCount }
    if bytes > Self.mostBytes { self = KnownStacks(depth, maxFrames: maxFrames) }
    var answer = analysis
    answer.remarks = []
    answers.append(answer)
    for snapshot in snapshots { copies[snapshot.threadID] = (snapshot, answers.count - 1) }
  }
}

extension ThreadSnapshot {
  fileprivate var byteCount: Int { morePieces.reduce(stackBytes.count) { $0 + $1.bytes.count } }

  /// All that a walk rests on.
  fileprivate func isEqual(to other: ThreadSnapshot) -> Bool {
    registers == other.registers && stackAddress == other.stackAddress && stackBytes == other.stackBytes
      && morePieces.elementsEqual(other.morePieces) {
        $0.address == $1.address && $0.isLater == $1.isLater && $0.bytes == $1.bytes
      }
  }
}
