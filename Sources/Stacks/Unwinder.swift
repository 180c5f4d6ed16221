// From a copied thread to the addresses it would return to.

package import Linux
package import StallCore

/// A frame without its name, and what a symbolicator needs to find it.
package struct WalkedFrame {
  package var frame: Frame
  /// The file that holds the frame's code, if it could be opened.
  package var image: ElfImage?
  /// Where to look a name up, in the file's own terms: for callers one less than the return address, which may
  /// already belong to the next function.
  package var lookupAddress: UInt64?
}

/// A thread's frames, innermost first, and why there are no more.
package struct Walk {
  package var frames: [WalkedFrame]
  package var end: WalkEnd
  /// Some bytes were copied after the thread went on, so the outer frames may be of a later moment.
  package var usedLaterBytes = false
}

/// Walks copied stacks: by the modules' unwind tables, and where there are none by frame pointers that pass every check.
///
/// No frame rests on a guess: each address lies in executable memory, and `root` is said only of a place that is
/// known to have no caller.
package final class Unwinder {
  private let rules = UnwindRules()

  package init() {}

  package func walk(_ snapshot: ThreadSnapshot, in space: AddressSpace, limit: Int = 256) -> Walk {
    let registers = snapshot.registers
    guard registers[Registers.programCounter] != nil, registers[Registers.stackPointer] != nil else {
      return Walk(frames: [], end: .notCaptured)
    }
    let memory = WalkMemory(snapshot, space)
    var place = Place(registers: registers, arrival: .exact, trust: .exact, in: space)
    var frames: [WalkedFrame] = []
    while true {
      frames.append(place.frame(in: space))
      switch step(from: place, memory) {
      case .end(let end): return Walk(frames: frames, end: end, usedLaterBytes: memory.usedLaterBytes)
      case .next where frames.count >= limit:
        return Walk(frames: frames, end: .limit, usedLaterBytes: memory.usedLaterBytes)
      case .next(let next): place = next
      }
    }
  }

  private enum Step {
    case next(Place)
    case end(WalkEnd)
  }

  private func step(from place: Place, _ memory: WalkMemory) -> Step {
    if place.isSignalFrame { return interrupted(by: place, memory) }
    if let next = callerOfReturning(place, memory) { return next }
    switch rules.step(from: place.registers, lookup: place.lookup, memory: memory) {
    case .caller(let registers): return caller(registers, of: place, trust: .exact, memory)
    case .outermost: return .end(.root)
    case .missingBytes: return .end(.missingBytes)
    case .badRule: return .end(.noRule)
    case .exhausted: return .end(.limit)
    case .noRule: break
    }
    if memory.space.module(containing: place.lookup)?.isEntry(place.lookup) == true { return .end(.root) }
    return callerBeforeFirstPush(place, memory) ?? callerByFramePointer(place, memory)
  }

  /// Takes a step's result only if it can be a frame. A return address of 0, or one outside all code below the entry
  /// point, is no frame but the end.
  private func caller(_ registers: Registers, of place: Place, trust: FrameTrust, _ memory: WalkMemory)
    -> Step
  {
    var next = Place(registers: registers, arrival: .returnAddress, trust: trust, in: memory.space)
    next.isCertain = place.isCertain && trust == .exact
    guard memory.space.isExecutable(next.lookup) else {
      let isEntry = memory.space.module(containing: place.lookup)?.isEntry(place.lookup) ?? false
      let isMarked = registers.programCounter == 0 && trust == .exact && place.isCertain
      return .end(isEntry || isMarked ? .root : .noRule)
    }
    // A function that has called nobody may keep its return address in a register, as glibc's vfork does.
    let isInRegister = place.arrival == .exact && trust == .exact
    let least = place.registers.stackPointer &+ (isInRegister ? 0 : 1)
    guard registers.stackPointer >= least else { return .end(.loop) }
    return .next(next)
  }

  /// At a `ret` the return address is on top of the stack, whatever the rules say: those of hand-written code and of old
  /// compilers are wrong here. The word must follow a call, since some code jumps by `ret`.
  private func callerOfReturning(_ place: Place, _ memory: WalkMemory) -> Step? {
    guard place.arrival == .exact,
      memory.space.text(at: place.registers.programCounter, count: 1) == [Instructions.return]
    else { return nil }
    return callerOnTop(place, trust: .exact, memory)
  }

  /// The rbp chain, one link: saved rbp at rbp, return address above it (psABI, figure 3.3).
  private func callerByFramePointer(_ place: Place, _ memory: WalkMemory) -> Step {
    guard let link = place.registers[Registers.framePointer], link & 7 == 0 else { return .end(.noRule) }
    guard link >= place.registers.stackPointer else {
      // In a chain of links, one that leads back into the stack.
      let isLink = place.trust == .framePointer && memory.stackWord(at: link) != nil
      return .end(isLink ? .loop : .noRule)
    }
    guard let saved = memory.stackWord(at: link), let returnAddress = memory.stackWord(at: link &+ 8) else {
      return .end(memory.isBeyondCopy(link) ? .missingBytes : .noRule)
    }
    guard memory.space.followsCall(returnAddress) != false else { return .end(.noRule) }
    var registers = Registers()
    registers[Registers.programCounter] = returnAddress
    registers[Registers.stackPointer] = link &+ 16
    registers[Registers.framePointer] = saved
    return caller(registers, of: place, trust: .framePointer, memory)
  }

  /// For the innermost frame, or one that a signal interrupted, in a function that makes no frame of its own (or
  /// nowhere at all: a call through a null or wild pointer): then the return address is still on top of the stack.
  private func callerBeforeFirstPush(_ place: Place, _ memory: WalkMemory) -> Step? {
    place.arrival == .exact ? callerOnTop(place, trust: .scanned, memory) : nil
  }

  private func callerOnTop(_ place: Place, trust: FrameTrust, _ memory: WalkMemory) -> Step? {
    let stackPointer = place.registers.stackPointer
    guard let returnAddress = memory.stackWord(at: stackPointer),
      memory.space.followsCall(returnAddress) == true
    else { return nil }
    var registers = place.registers
    registers[Registers.programCounter] = returnAddress
    registers[Registers.stackPointer] = stackPointer &+ 8
    return caller(registers, of: place, trust: trust, memory)
  }

  /// What a signal interrupted, from the `ucontext` that lies at the stack pointer when the handler has returned.
  /// Done here and not by rules, since musl has none for its trampoline.
  private func interrupted(by place: Place, _ memory: WalkMemory) -> Step {
    var registers = Registers()
    // The return address, the frame's first word, is off the stack.
    let start = place.registers.stackPointer &- 8 &+ UInt64(SignalFrame.registers)
    for (index, number) in SignalFrame.registerNumbers.enumerated() {
      registers[number] = memory.stackWord(at: start &+ UInt64(index) * 8)
    }
    guard registers[Registers.programCounter] != nil else { return .end(.missingBytes) }
    var next = Place(registers: registers, arrival: .exact, trust: .exact, in: memory.space)
    next.isCertain = place.isCertain
    return .next(next)
  }
}

/// One frame on the way.
private struct Place {
  enum Arrival {
    /// The pc is the next instruction.
    case exact
    /// A call returns to the pc.
    case returnAddress
    /// A return to the pc was put on the stack by hand, as for the first function of a `makecontext` stack.
    case madeReturnAddress
  }

  var registers: Registers
  var arrival: Arrival
  var trust: FrameTrust
  var isSignalFrame: Bool
  /// No step to here was a guess.
  var isCertain = true

  init(registers: Registers, arrival: Arrival, trust: FrameTrust, in space: AddressSpace) {
    self.registers = registers
    self.trust = trust
    let trampoline = Instructions.signalReturn
    isSignalFrame = space.text(at: registers.programCounter, count: trampoline.count) == trampoline
    // Nothing called the trampoline: the kernel put its address on the stack.
    if isSignalFrame {
      self.arrival = .exact
    } else if arrival == .returnAddress, space.followsCall(registers.programCounter) == false {
      self.arrival = .madeReturnAddress
    } else {
      self.arrival = arrival
    }
  }

  /// The address whose function is meant.
  var lookup: UInt64 {
    arrival == .returnAddress ? registers.programCounter &- 1 : registers.programCounter
  }

  func frame(in space: AddressSpace) -> WalkedFrame {
    let module = space.module(containing: lookup)
    var frame = Frame(programCounter: registers.programCounter, trust: trust)
    frame.stackPointer = registers[Registers.stackPointer]
    frame.module = module?.reference
    frame.moduleOffset = module?.offset(of: registers.programCounter)
    frame.isSignalFrame = isSignalFrame
    frame.isGenerated = space.isGenerated(lookup)
    return WalkedFrame(frame: frame, image: module?.image, lookupAddress: module?.offset(of: lookup))
  }
}

extension AddressSpace {
  /// Whether the instruction before an address is a call; nil where the instructions are not known.
  fileprivate func followsCall(_ address: UInt64) -> Bool? {
    text(at: address &- UInt64(Instructions.longestCall), count: Instructions.longestCall)
      .map(Instructions.endInCall)
  }
}
