// Answers for threads that have not moved: their next copy is the same to the last byte.

internal import Linux
internal import Stacks
internal import StallCore

/// Bounded, and only good for one list of mappings.
struct KnownStacks {
  private var maps: SealedBytes?
  private var copies: [Int32: (snapshot: ThreadSnapshot, answer: Analysis)] = [:]
  private var bytes = 0

  private static let mostBytes = 1 << 20

  /// Reads the copy, and answers by what an equal one of its thread was answered before; false if there was none.
  func answer(_ question: inout AnalystQuestion) -> Bool {
    question.snapshot = try? question.capture.snapshot()
    guard question.maps === maps, let snapshot = question.snapshot, let known = copies[snapshot.threadID],
      known.snapshot.isEqual(to: snapshot)
    else { return false }
    question.best = known.answer
    return true
  }

  /// An answer of this size. Names of generated code change under the same addresses; what took long may lack lines.
  mutating func add(_ answer: Analysis, size: Int, to question: AnalystQuestion?, askedAt moment: Int64) {
    guard let question, let snapshot = question.snapshot, question.missing == nil,
      !answer.frames.contains(where: \.isGenerated),
      Clock.monotonicNanoseconds - moment < StackAnalysis.timeForLines.nanoseconds
    else { return }
    let more = snapshot.byteCount + size
    if question.maps !== maps || bytes + more > Self.mostBytes { self = KnownStacks(maps: question.maps) }
    bytes += more
    copies[snapshot.threadID] = (snapshot, answer)
    copies[snapshot.threadID]?.answer.remarks = []
  }

  init(maps: SealedBytes? = nil) { self.maps = maps }
}

extension ThreadSnapshot {
  fileprivate var byteCount: Int { morePieces.reduce(stackBytes.count) { $0 + $1.bytes.count } }

  /// All that a walk rests on.
  fileprivate func isEqual(to other: ThreadSnapshot) -> Bool {
    registers == other.registers && stackAddress == other.stackAddress
      && stackBytes.hasSameBytes(as: other.stackBytes)
      && morePieces.elementsEqual(other.morePieces) {
        $0.address == $1.address && $0.isLater == $1.isLater && $0.bytes.hasSameBytes(as: $1.bytes)
      }
  }
}
