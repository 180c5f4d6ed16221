// From a copied thread to a named stack, in steps. Works on copies and opened files; asks nothing of the live process.

internal import Linux
internal import Stacks
internal import StallCore
internal import Symbols

final class StackAnalysis {
  private static let mostMapBytes = 64 << 20
  /// For the lines of one stack; what is not found by then may be there for the next one.
  private static let timeForLines = Duration.seconds(5)

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
    if bytes == maps, space != nil { return }
    maps = bytes
    space = AddressSpace(map: MemoryMap(parsing: bytes), vdso: vdso) { [files] in files.image(for: $0) }
  }

  /// Gives what is known after each step: first addresses, which survive whatever the later steps run into.
  func analyze(
    _ snapshot: ThreadSnapshot, maxFrames: Int, depth: AnalysisDepth,
    _ give: (Analysis, _ isFinal: Bool) -> Void
  ) {
    guard let space else { return give(Analysis(end: .notCaptured, frames: []), true) }
    let walk = unwinder.walk(snapshot, in: space, limit: maxFrames)
    var analysis = Analysis(end: walk.end, frames: walk.frames.map(\.frame))
    analysis.isCompleted = walk.usedLaterBytes
    give(analysis, depth == .addresses)
    if depth == .addresses { return }
    let frames = named(walk, in: space)
    analysis.frames = frames.map(\.frame)
    analysis.remarks = takeRemarks()
    give(analysis, depth == .names)
    if depth == .names { return }
    let deadline = Clock.monotonicNanoseconds + Self.timeForLines.nanoseconds
    analysis.frames = frames.flatMap { expanded($0, deadline) }
    analysis.remarks = takeRemarks()
    give(analysis, true)
  }

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

extension Frame {
  /// Where the named function begins in memory.
  fileprivate var symbolStart: UInt64? { symbolOffset.map { programCounter &- $0 } }
}
