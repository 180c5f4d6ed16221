// Finds `main` in a walked stack, also where it has no symbol or left no frame.

internal import Linux
internal import StallCore

/// The C library's start-up code calls `main` and nothing else, so the frame that it called is `main`, or what `main`
/// jumped to as its last act (a tail call, which leaves no frame of its own).
package struct MainFunction {
  package enum Place {
    /// The called frame is `main`.
    case called
    /// `main` jumped into the called frame's function; it would stand below that.
    case tailCall
  }

  /// Where `main` begins.
  package let address: UInt64
  /// The frame that the start-up code called.
  package let called: Int
  /// A frame at the beginning of `main`, for where it left none.
  package let frame: WalkedFrame
  private let calledAddress: UInt64?

  /// Nil for walks that did not end in the program's entry point, and for start-up code that is not known.
  package init?(in walk: Walk, _ space: AddressSpace) {
    guard walk.end == .root, let start = walk.frames.last, let address = Self.mainAddress(start, space),
      let called = Self.calledByLibrary(walk.frames)
    else { return nil }
    self.address = address
    self.called = called
    frame = Self.frame(at: address, space)
    let isOwn = walk.frames[called].frame.module == start.frame.module
    calledAddress = isOwn ? walk.frames[called].frame.programCounter : nil
  }

  /// `startOfCalled`: where the called frame's function begins, if its name is known. Else a short way behind the
  /// beginning of `main` is taken to be in it; 64 KB is more than any `main` that was seen.
  package func place(startOfCalled: UInt64?) -> Place {
    if let startOfCalled { return startOfCalled == address ? .called : .tailCall }
    guard let calledAddress, calledAddress > address, calledAddress - address < 65_536 else {
      return .tailCall
    }
    return .called
  }

  /// The frame that the start-up code called: the last one above the C library's, which are one or two.
  private static func calledByLibrary(_ frames: [WalkedFrame]) -> Int? {
    guard frames.count >= 3, let library = frames[frames.count - 2].frame.module,
      library != frames[frames.count - 1].frame.module
    else { return nil }
    return frames.indices.dropLast(2).last { frames[$0].frame.module != library }
  }

  /// `_start` loads the address of `main` into rdi right before it calls the library: as `lea rel32(%rip), %rdi` in
  /// position-independent programs, `mov $imm32, %rdi` in others (glibc, sysdeps/x86_64/start.S).
  private static func mainAddress(_ start: WalkedFrame, _ space: AddressSpace) -> UInt64? {
    let loadLength = 7
    // `call *disp32(%rip)` or `call rel32`.
    for callLength in [6, 5] {
      let next = start.frame.programCounter &- UInt64(callLength)
      guard let code = space.text(at: next &- UInt64(loadLength), count: loadLength) else { continue }
      let value = UInt32(truncatingIfNeeded: code.littleEndian(at: 3, count: 4))
      switch (code[0], code[1], code[2]) {
      case (0x48, 0x8D, 0x3D): return next &+ UInt64(bitPattern: Int64(Int32(bitPattern: value)))
      case (0x48, 0xC7, 0xC7): return UInt64(value)
      default: continue
      }
    }
    return nil
  }

  private static func frame(at main: UInt64, _ space: AddressSpace) -> WalkedFrame {
    let module = space.module(containing: main)
    var frame = Frame(programCounter: main, trust: .symbolGuess)
    frame.module = module?.reference
    frame.moduleOffset = module?.offset(of: main)
    return WalkedFrame(frame: frame, image: module?.image, lookupAddress: frame.moduleOffset)
  }
}
