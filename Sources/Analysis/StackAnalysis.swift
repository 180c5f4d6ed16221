// From a copied thread to a named stack, in steps. Works on copies and opened files; asks nothing of the live process.

internal import Linux
internal import Stacks
internal import StallCore
internal import Symbols

final class StackAnalysis {
  private static let mostMapBytes = 64 << 20

  private let files = TargetFiles { region in
    guard let file = AnalystSocket.request(.wantsMapping(start: region.start)) else { return nil }
    return try? FileDescriptor.duplicate(file.rawDescriptor)
  }
  private let vdso: [UInt8]?
  private let unwinder = Unwinder()
  private var symbolicator = Symbolicator()
  /// Kept while the text of `maps` stays the same.
  private var maps: [UInt8] = []
  private var space: AddressSpace?

  init(vdso: [UInt8]?) { self.vdso = vdso }

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
    if depth == .addresses { return give(analysis, true) }
    give(analysis, false)
    analysis.frames = frames(of: walk, in: space)
    analysis.remarks = symbolicator.takeRemarks().map { ByteString($0.text) }
    give(analysis, true)
  }

  private func frames(of walk: Walk, in space: AddressSpace) -> [Frame] {
    var frames = walk.frames.map(name)
    guard let main = MainFunction(in: walk, space) else { return frames }
    switch main.place(startOfCalled: frames[main.called].symbolStart) {
    case .called where frames[main.called].symbol == nil:
      frames[main.called].symbol = "main"
      frames[main.called].trust = .symbolGuess
    case .called: break
    case .tailCall:
      var frame = name(main.frame)
      frame.symbol = frame.symbol ?? "main"
      frames.insert(frame, at: main.called + 1)
    }
    return frames
  }

  private func name(_ walked: WalkedFrame) -> Frame {
    var frame = walked.frame
    if let lookup = walked.lookupAddress, let descriptor = walked.image?.rawDescriptor {
      symbolicator.name(&frame, lookup: lookup, descriptor: descriptor)
    }
    return frame
  }
}

extension Frame {
  /// Where the named function begins in memory.
  fileprivate var symbolStart: UInt64? { symbolOffset.map { programCounter &- $0 } }
}
