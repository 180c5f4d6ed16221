// Walking the stacks of real programs, whole and damaged.

import Linux
import Stacks
import StallCore
import Testing

@Suite struct UnwinderTests {
  struct Expectation: Sendable, CustomStringConvertible {
    var program: String
    var names: [String]
    var end = WalkEnd.root
    /// How the frames were found that rest on something else than rules.
    var guesses: [FrameTrust] = []
    var secondThread = false
    var description: String { program }
  }

  /// The innermost names; what follows is `main` and what called it.
  static let expectations = [
    Expectation(program: "walk-rules", names: ["innermost", "call_without_frame_pointer", "outer"]),
    Expectation(
      program: "walk-frame-pointer", names: ["innermost", "call_without_rules", "outer"],
      guesses: [.framePointer]),
    Expectation(program: "walk-leaf", names: ["pause_without_anything", "outer"], guesses: [.scanned]),
    Expectation(program: "walk-nothing", names: ["innermost", "call_without_anything"], end: .noRule),
    Expectation(
      program: "walk-null", names: ["innermost", "stop_in_handler", "signal", "nowhere", "call_null"],
      guesses: [.scanned]),
    Expectation(
      program: "walk-signal",
      names: ["innermost", "stop_in_handler", "signal", "spin_at_first_instruction", "call_spinning"]),
    Expectation(program: "walk-noreturn", names: ["innermost", "never_return", "end_in_call"]),
    Expectation(program: "walk-thread", names: ["innermost", "thread_body"], secondThread: true),
  ]

  @Test(arguments: expectations)
  func findsEveryFrame(_ expected: Expectation) throws {
    let stack = try StoppedStack(expected.program)
    let captured = try stack.capture(secondThread: expected.secondThread)
    let walk = Unwinder().walk(captured.snapshot, in: captured.space)
    let names = stack.names(walk, in: captured.space)
    #expect(names.starts(with: expected.names), "\(names)")
    #expect(walk.end == expected.end)
    #expect(walk.frames.map(\.frame.trust).filter { $0 != .exact } == expected.guesses)
    if expected.end == .noRule { #expect(names.count == expected.names.count) }
  }

  /// As in a statically linked program: there are rules but no sorted table of them.
  @Test func findsRulesWithoutATable() throws {
    let captured = try StoppedStack("walk-rules").capture()
    let own = try #require(captured.ownImage)
    let withoutTable = try captured.ownFileWithoutTable()
    let image = try ElfImage(pages: FilePages(contents: withoutTable), identity: own.identity)
    #expect(image.unwindTable == nil)
    let whole = Unwinder().walk(captured.snapshot, in: captured.space)
    let walk = Unwinder().walk(captured.snapshot, in: captured.space(with: image))
    #expect(walk.end == .root)
    #expect(walk.frames.map(\.frame) == whole.frames.map(\.frame))
  }

  @Test func knowsTheVDSO() throws {
    let captured = try StoppedStack("walk-rules").capture()
    let region = try #require(captured.space.map.regions.first { $0.path == Array("[vdso]".utf8) })
    let module = try #require(captured.space.module(containing: region.start))
    #expect(module.loadBias == region.start)
    #expect(module.image?.unwindTable != nil)
    #expect(module.reference.path == "[vdso]")
  }
}
