// What the rules say of one stack: whether its wait is a loop's, of which family, and how deep loops are nested.

/// What a wait means to the loop of its thread.
package enum WaitMeaning: String, Sendable {
  /// The loop's own.
  case loop
  /// Something that keeps the loop from going on.
  case work
  case unknown
}

/// A place in the code that runs each time the wait returns, and only then.
package struct WaitReturn: Sendable, Equatable {
  package var programCounter: UInt64
  /// What the stack pointer is there.
  package var stackPointer: UInt64

  package init(programCounter: UInt64, stackPointer: UInt64) {
    self.programCounter = programCounter
    self.stackPointer = stackPointer
  }
}

/// How a wait is made: the C library's function between the system call and whoever called it.
package struct WaitWrapper: Sendable, Equatable {
  package var callProgramCounter: UInt64
  /// From the stack pointer in the call to that behind the return.
  package var frameSize: UInt64

  package init(callProgramCounter: UInt64, frameSize: UInt64) {
    self.callProgramCounter = callProgramCounter
    self.frameSize = frameSize
  }

  /// Nil for a return that lies further in than the call. Both are in one frame where the wait is not known to be a
  /// wrapper.
  package init?(_ site: Site, returnsTo: WaitReturn) {
    guard returnsTo.stackPointer >= site.stackPointer else { return nil }
    self.init(
      callProgramCounter: site.programCounter, frameSize: returnsTo.stackPointer - site.stackPointer)
  }
}

package struct StackReading: Sendable, Equatable {
  package var meaning = WaitMeaning.unknown
  /// As it is spoken: of a loop its library, of work what it is. The loop is named also where it is at work.
  package var loopFamily: String?
  package var workFamily: String?
  /// The loop may be woken by its own eventfd.
  package var mayPing = false
  /// How many calls of the loop are on the stack: 2 with a dialog.
  package var nesting = 0
  /// Where the wait returns to in the frame of whoever made it: the innermost one that does not belong to the C library.
  package var returnsTo: WaitReturn?

  package init() {}
}

extension LoopRules {
  /// Statically linked or stripped loops have functions without a name between the wait and one that is known.
  private static let mostNamelessFrames = 4
  /// Of a deeper stack the inner part tells what the wait means.
  private static let mostFrames = 256

  /// Reads a stack, innermost frame first.
  package func reading(of frames: [Frame]) -> StackReading {
    var reading = StackReading()
    let frames = frames.prefix(Self.mostFrames)
    let matched = frames.map { rules(for: $0) }
    reading.returnsTo = waitReturn(frames, matched)
    readFamilies(matched, into: &reading)
    reading.nesting = nesting(matched)
    reading.meaning = meaning(frames, matched)
    return reading
  }

  /// What stands between the kernel and the loop is no matter of any loop, so the built-in table counts beside another
  /// one. Within the C library a wait returns to one place in a program of one thread and to another in one of several.
  private func waitReturn(_ frames: ArraySlice<Frame>, _ matched: [[LoopRule]]) -> WaitReturn? {
    func isCall(_ rules: [LoopRule]) -> Bool { rules.contains { $0.meaning == .call } }
    for (frame, rules) in zip(frames, matched) where !isCall(rules) {
      if isCall(Self.builtIn.rules(for: frame)) { continue }
      // Where a signal or an inlined call is in between, the address is not the one that the wait returns to.
      guard !frame.isSignalFrame, let stackPointer = frame.stackPointer else { return nil }
      return WaitReturn(programCounter: frame.programCounter, stackPointer: stackPointer)
    }
    return nil
  }

  private func readFamilies(_ matched: [[LoopRule]], into reading: inout StackReading) {
    let rules = matched.flatMap { $0 }
    reading.workFamily = rules.filter { $0.meaning == .work }.map(\.family).min().map { families[$0].name }
    let loops = rules.filter { $0.meaning.tellsLoop }.map(\.family)
    reading.loopFamily = loops.min().map { families[$0].name }
    reading.mayPing = loops.contains { families[$0].mayPing }
  }

  /// Toolkits run their loop by that of a library: the one with most levels counts. A dialog stands in another level.
  private func nesting(_ matched: [[LoopRule]]) -> Int {
    var levels: [Int: Int] = [:]
    var dialogs = 0
    for rules in matched {
      for family in Set(rules.lazy.filter { $0.meaning == .loop }.map(\.family)) {
        levels[family, default: 0] += 1
      }
      if rules.contains(where: { $0.meaning == .nested }) { dialogs += 1 }
    }
    let isLoop = matched.contains { $0.contains { $0.meaning.tellsLoop } }
    return max(levels.values.max() ?? 0, isLoop ? 1 : 0, dialogs > 0 ? dialogs + 1 : 0)
  }

  private func meaning(_ frames: ArraySlice<Frame>, _ matched: [[LoopRule]]) -> WaitMeaning {
    if matched.contains(where: { $0.contains { $0.meaning == .work } }) { return .work }
    var nameless: [ModuleReference?] = []
    for (frame, rules) in zip(frames, matched) {
      if rules.contains(where: { $0.meaning == .loop || $0.meaning == .part }) {
        return nameless.allSatisfy { $0 == frame.module } ? .loop : .unknown
      }
      if rules.contains(where: { $0.meaning == .dispatch }) { return .work }
      if rules.contains(where: { $0.meaning == .call }), nameless.isEmpty { continue }
      // A function that has a name and is not in the table belongs to somebody else.
      if frame.symbol != nil { return isBelowDispatch(matched) ? .work : .unknown }
      nameless.append(frame.module)
      if nameless.count > Self.mostNamelessFrames { return .unknown }
    }
    return .unknown
  }

  /// Going outwards, what calls the loop's callbacks comes before any loop.
  private func isBelowDispatch(_ matched: [[LoopRule]]) -> Bool {
    for rules in matched {
      if rules.contains(where: { $0.meaning == .loop || $0.meaning == .part }) { return false }
      if rules.contains(where: { $0.meaning == .dispatch }) { return true }
    }
    return false
  }
}

extension LoopRuleMeaning {
  fileprivate var tellsLoop: Bool { self == .loop || self == .part }
}
