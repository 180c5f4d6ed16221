// From a copied thread to a named stack, in steps. Works on copies and opened files; asks nothing of the live process.

internal import Linux
internal import Stacks
internal import StallCore
internal import Symbols

final class StackAnalysis {
  private static let mostMapBytes = 64 << 20
  /// For the lines of one stack; what is not found by then may be there for the next one.
  static let timeForLines = Duration.seconds(5)

  private let files = TargetFiles { region in
    guard let file = AnalystSocket.request(.wantsMapping(region)) else { return nil }
    return try? FileDescriptor.duplicate(file.rawDescriptor)
  }
  private let vdso: [UInt8]?
  /// The same as a file, for its symbols.
  private let vdsoFile: SharedFile?
  private let unwinder = Unwinder()
  private var symbolicator = Symbolicator(debugFiles: DebugFileSearch())
  private let generatedCode = GeneratedCode()
  /// The first sample of each series with these functions.
  private var samples: [SamplePlace: UInt64] = [:]
  /// Kept while the text of `maps` stays the same.
  private var maps: [UInt8] = []
  private var space: AddressSpace?

  init(vdso: [UInt8]?) {
    self.vdso = vdso
    vdsoFile = vdso.flatMap { (bytes: [UInt8]) in
      let bytes = unsafe bytes.span.bytes
      return try? SealedBytes.copy(bytes)
    }
  }

  /// Takes the list of mappings that the next questions belong to.
  func use(_ file: SharedFile?) {
    let bytes = file.flatMap { try? SealedBytes($0).bytes(limit: Self.mostMapBytes) } ?? []
    if space != nil, bytes.hasSameBytes(as: maps) { return }
    maps = bytes
    space = AddressSpace(map: MemoryMap(parsing: bytes), vdso: vdso) { [files] in files.image(for: $0) }
  }

  /// For all the stacks that are asked about together. They are asked about again, each alone, where that is not enough.
  private static let timeForAllLines = Duration.seconds(10)

  /// Answers one question step by step, several of them in one step for each distinct stack.
  func analyze(
    _ questions: [StackQuestion], maxFrames: Int, depth: AnalysisDepth,
    _ give: (_ ids: [UInt64], Analysis, _ isFinal: Bool) -> Void
  ) {
    guard let space else { return give(questions.map(\.id), Analysis(end: .notCaptured, frames: []), true) }
    if questions.count == 1, let question = questions.first {
      let walk = unwinder.walk(question.snapshot, in: space, limit: maxFrames)
      let deadline = Clock.monotonicNanoseconds + Self.timeForLines.nanoseconds
      return analyze(walk, in: space, depth, until: deadline) { give([question.id], $0, $1) }
    }
    let deadline = Clock.monotonicNanoseconds + Self.timeForAllLines.nanoseconds
    for (walk, questions) in distinctWalks(of: questions, in: space, maxFrames) {
      analyze(walk, in: space, depth, until: deadline) { analysis, isFinal in
        if isFinal { give(questions.map(\.id), analysis, true) }
      }
    }
  }

  /// They share one answer, so that the stack pointers, which differ, are left out.
  private func distinctWalks(
    of questions: [StackQuestion], in space: AddressSpace, _ maxFrames: Int
  ) -> [(walk: Walk, questions: [StackQuestion])] {
    var distinct: [(walk: Walk, questions: [StackQuestion])] = []
    for question in questions {
      var walk = unwinder.walk(question.snapshot, in: space, limit: maxFrames)
      for index in walk.frames.indices { walk.frames[index].frame.stackPointer = nil }
      if let place = distinct.firstIndex(where: { $0.walk.isEqual(to: walk) }) {
        distinct[place].questions.append(question)
      } else {
        distinct.append((walk, [question]))
      }
    }
    return distinct
  }

  /// Gives what is known after each step: first addresses, which survive whatever the later steps run into.
  private func analyze(
    _ walk: Walk, in space: AddressSpace, _ depth: AnalysisDepth, until deadline: Int64,
    _ give: (Analysis, _ isFinal: Bool) -> Void
  ) {
    var analysis = Analysis(end: walk.end, frames: walk.frames.map(\.frame))
    analysis.isCompleted = walk.usedLaterBytes
    give(analysis, depth == .addresses)
    if depth == .addresses { return }
    let frames = named(walk, in: space)
    analysis.frames = frames.map(\.frame)
    analysis.remarks = takeRemarks()
    give(analysis, depth == .names)
    if depth == .names { return }
    analysis.frames = frames.flatMap { expanded($0, deadline) }
    analysis.remarks = takeRemarks()
    give(analysis, true)
  }

  /// One of many: it is answered once, and one that was there before by the number of that.
  func analyze(
    _ sample: StackQuestion, ofSeries series: UInt64, maxFrames: Int, depth: AnalysisDepth
  ) -> Analysis {
    guard let space else { return Analysis(end: .notCaptured, frames: []) }
    let walk = unwinder.walk(sample.snapshot, in: space, limit: maxFrames)
    let frames = depth == .addresses ? walk.frames : named(walk, in: space)
    var analysis = Analysis(end: walk.end, frames: frames.map(\.frame))
    let place = SamplePlace(series: series, path: StackPath(analysis.frames, walk.end))
    if let first = samples[place] {
      (analysis.sameAs, analysis.frames) = (first, [])
    } else {
      if samples.count == Self.mostSamples { samples = [:] }
      samples[place] = sample.id
      analysis.isCompleted = walk.usedLaterBytes
      let deadline = Clock.monotonicNanoseconds + Self.timeForLines.nanoseconds
      if depth == .lines { analysis.frames = frames.flatMap { expanded($0, deadline) } }
    }
    analysis.remarks = takeRemarks()
    return analysis
  }

  private struct SamplePlace: Hashable {
    var series: UInt64
    var path: StackPath
  }

  private static let mostSamples = 1024

  /// Where a variable is, by the last list of mappings.
  func find(_ name: HeartbeatName) -> HeartbeatFinding {
    guard let space else { return .failed(why: "there is no list of its mappings") }
    var search = HeartbeatSearch(name, in: space)
    return search.finding()
  }

  private func takeRemarks() -> [ByteString] { symbolicator.takeRemarks().map { ByteString($0.text) } }

  /// The frames with their names, and with `main` where it left no frame of its own.
  private func named(_ walk: Walk, in space: AddressSpace) -> [WalkedFrame] {
    var frames = walk.frames.map(named)
    if frames.contains(where: { $0.frame.isGenerated }) { generatedCode.name(&frames) }
    guard let main = MainFunction(in: walk, space) else { return frames }
    switch main.place(startOfCalled: frames[main.called].frame.symbolStart) {
    case .called where frames[main.called].frame.symbol == nil:
      frames[main.called].frame.symbol = "main"
      frames[main.called].frame.trust = .symbolGuess
    case .called: break
    case .tailCall:
      var walked = named(main.frame)
      walked.frame.symbol = walked.frame.symbol ?? "main"
      frames.insert(walked, at: main.called + 1)
    }
    return frames
  }

  private func named(_ walked: WalkedFrame) -> WalkedFrame {
    var named = walked
    if let lookup = walked.lookupAddress, let descriptor = descriptor(of: walked) {
      symbolicator.name(&named.frame, lookup: lookup, descriptor: descriptor)
    }
    return named
  }

  private func descriptor(of walked: WalkedFrame) -> Int32? {
    if let descriptor = walked.image?.rawDescriptor { return descriptor }
    return walked.frame.module?.path == "[vdso]" ? vdsoFile?.rawDescriptor : nil
  }

  /// A frame with its line, behind the calls that were inlined into it.
  private func expanded(_ walked: WalkedFrame, _ deadline: Int64) -> [Frame] {
    guard let lookup = walked.lookupAddress, let descriptor = descriptor(of: walked) else {
      return [walked.frame]
    }
    return symbolicator.expand(walked.frame, lookup: lookup, descriptor: descriptor, deadline: deadline)
  }
}

extension Walk {
  fileprivate func isEqual(to other: Walk) -> Bool {
    end == other.end && usedLaterBytes == other.usedLaterBytes
      && frames.elementsEqual(other.frames) { $0.frame == $1.frame }
  }
}

extension Frame {
  /// Where the named function begins in memory.
  fileprivate var symbolStart: UInt64? { symbolOffset.map { programCounter &- $0 } }
}
