// Answers for threads that have not moved: their next copy is the same to the last byte.

internal import Linux
internal import Stacks
internal import StallCore

/// Bounded, and only good for one list of mappings.
struct KnownStacks {
  private var maps: SealedBytes?
  private var copies: [Int32: KnownStack] = [:]
  private var bytes = 0

  private static let mostBytes = 1 << 20

  /// Reads the copy, unless it is the same object as before, and answers by what an equal one of its thread was answered;
  /// false if there was none.
  mutating func answer(_ question: inout AnalystQuestion) -> Bool {
    let known = question.maps === maps ? copies[question.capture.threadID] : nil
    if known?.capture !== question.capture {
      question.snapshot = try? question.capture.snapshot()
      guard let known, let snapshot = question.snapshot, known.snapshot.isEqual(to: snapshot) else {
        return false
      }
      copies[snapshot.threadID]?.capture = question.capture
    }
    question.best = known?.answer
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
    var known = KnownStack(capture: question.capture, snapshot: snapshot, answer: answer)
    known.answer.remarks = []
    copies[snapshot.threadID] = known
  }

  init(maps: SealedBytes? = nil) { self.maps = maps }
}

private struct KnownStack {
  /// Somebody else's to keep: it is an open file.
  weak var capture: RawCapture?
  let snapshot: ThreadSnapshot
  var answer: Analysis
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
