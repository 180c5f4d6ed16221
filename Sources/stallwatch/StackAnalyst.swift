// From a copied thread to a named stack. Works on copies and opened files; asks nothing of the live process.

internal import CommandLineOptions
internal import Linux
internal import Stacks
internal import StallCore
internal import Symbols

final class StackAnalyst {
  private let maxFrames: Int
  private let detail: SymbolDetail
  private let files: TargetFiles
  private let unwinder = Unwinder()
  private var symbolicator = Symbolicator()
  /// Kept while the text of `maps` stays the same.
  private var space: (source: SealedBytes, maps: [UInt8], space: AddressSpace)?

  private static let mostMapBytes = 16 << 20

  init(process: Int32, maxFrames: Int, detail: SymbolDetail) {
    self.maxFrames = maxFrames
    self.detail = detail
    files = TargetFiles(processID: process)
  }

  func stack(of thread: CapturedThread) -> Stack {
    var stack = Stack(
      threadID: thread.threadID, threadName: thread.name, role: thread.role, way: nil, stoppedFor: .zero,
      end: .notCaptured, frames: [])
    switch thread.result {
    case .failure(let failure): stack.missing = "the thread \(failure.text)"
    case .success(let capture):
      stack.way = capture.way
      stack.stoppedFor = capture.stoppedFor
      stack.isApproximate = capture.registers[Registers.framePointer] == nil
      walk(capture, thread.maps, into: &stack)
    }
    return stack
  }

  /// What came up about modules since the last call, once per module.
  func takeRemarks() -> [String] { symbolicator.takeRemarks().map(\.text) }

  private func walk(_ capture: RawCapture, _ maps: SealedBytes?, into stack: inout Stack) {
    guard let space = addressSpace(maps) else {
      stack.missing = "the list of its mappings could not be read"
      return
    }
    do throws(Errno) {
      let walk = unwinder.walk(try capture.snapshot(), in: space, limit: maxFrames)
      stack.end = walk.end
      stack.frames = frames(of: walk, in: space)
    } catch {
      stack.missing = "the copy could not be read (\(error.text))"
    }
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
    if detail != .none, let lookup = walked.lookupAddress, let descriptor = walked.image?.rawDescriptor {
      symbolicator.name(&frame, lookup: lookup, descriptor: descriptor)
    }
    return frame
  }

  private func addressSpace(_ maps: SealedBytes?) -> AddressSpace? {
    guard let maps else { return nil }
    if let space, space.source === maps { return space.space }
    guard let bytes = try? maps.bytes(limit: Self.mostMapBytes), !bytes.isEmpty else { return nil }
    if let space, space.maps == bytes { return space.space }
    let made = AddressSpace(map: MemoryMap(parsing: bytes), vdso: OwnVDSO.bytes) { [files] in
      files.image(for: $0)
    }
    space = (maps, bytes, made)
    return made
  }
}

extension Frame {
  /// Where the named function begins in memory.
  fileprivate var symbolStart: UInt64? { symbolOffset.map { programCounter &- $0 } }
}
