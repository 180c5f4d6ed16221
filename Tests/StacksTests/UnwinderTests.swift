// Walking the stacks of real programs, whole and damaged.

import Linux
import Stacks
import StallCore
import Testing

@Suite struct UnwinderTests {
  struct Expectation: Sendable, CustomStringConvertible {
    /// The trouble that it stands for.
    var trouble = ""
    var program: String
    var names: [String]
    var end = WalkEnd.root
    /// How the frames were found that rest on something else than rules.
    var guesses: [FrameTrust] = []
    var secondThread = false
    var description: String { "\(trouble) \(program)" }
  }

  /// The innermost names; what follows is `main` and what called it.
  static let expectations = [
    Expectation(program: "walk-rules", names: ["innermost", "call_without_frame_pointer", "outer"]),
    Expectation(
      trouble: "UW-01", program: "walk-frame-pointer", names: ["innermost", "call_without_rules", "outer"],
      guesses: [.framePointer]),
    Expectation(
      trouble: "UW-01", program: "walk-leaf", names: ["pause_without_anything", "outer"], guesses: [.scanned]),
    Expectation(
      trouble: "UW-02", program: "walk-nothing", names: ["innermost", "call_without_anything"], end: .noRule),
    Expectation(
      trouble: "UW-04", program: "walk-null",
      names: ["innermost", "stop_in_handler", "signal", "nowhere", "call_null"],
      guesses: [.scanned]),
    Expectation(
      trouble: "UW-04", program: "walk-signal",
      names: ["innermost", "stop_in_handler", "signal", "spin_at_first_instruction", "call_spinning"]),
    Expectation(
      trouble: "UW-03", program: "walk-noreturn", names: ["innermost", "never_return", "end_in_call"]),
    Expectation(program: "walk-thread", names: ["innermost", "thread_body"], secondThread: true),
    Expectation(
      trouble: "UW-04", program: "walk-nested-signals",
      names: [
        "innermost", "stop_in_handler", "signal", "spin_at_first_instruction", "spin_in_handler", "signal",
        "spin_at_first_instruction", "call_spinning",
      ]),
    Expectation(
      trouble: "UW-06", program: "walk-restorer",
      names: ["innermost", "stop_in_handler", "signal", "spin_at_first_instruction", "call_spinning"]),
    Expectation(trouble: "UW-13", program: "walk-fiber", names: ["innermost", "fiber_body"], end: .noRule),
    Expectation(
      trouble: "UW-13", program: "walk-coroutine", names: ["innermost", "fiber_body"], end: .noRule),
    Expectation(
      trouble: "UW-11", program: "walk-realigned", names: ["innermost", "call_realigned", "outer"]),
    Expectation(trouble: "UW-11", program: "walk-expression", names: ["pause_with_expression", "outer"]),
    Expectation(trouble: "UW-16", program: "walk-return", names: ["pause_at_return", "outer"]),
    Expectation(
      trouble: "UW-12", program: "walk-debug-rules", names: ["innermost", "call_with_debug_rules", "outer"]),
    Expectation(
      trouble: "UW-02", program: "walk-forged", names: ["innermost", "call_forged", "call_with_rules"],
      end: .noRule,
      guesses: [.framePointer]),
    Expectation(
      trouble: "UW-02", program: "walk-circle",
      names: ["innermost", "call_in_circle", "call_in_circle", "call_in_circle"], end: .loop,
      guesses: [.framePointer, .framePointer]),
    Expectation(
      trouble: "JIT-06", program: "walk-generated", names: ["innermost", "generated", "outer"],
      guesses: [.framePointer]),
    Expectation(
      trouble: "SYM-19", program: "walk-memory-file", names: ["innermost", "generated", "outer"],
      guesses: [.framePointer]),
    Expectation(
      trouble: "JIT-06", program: "walk-frameless", names: ["innermost", "generated"], end: .noRule),
    Expectation(
      trouble: "SYM-19", program: "walk-executed-from-memory",
      names: ["innermost", "call_without_frame_pointer", "outer"]),
  ]

  @Test(
    "UW-01, UW-02, UW-03, UW-04, UW-06, UW-11, UW-12, UW-13, UW-16, SYM-19, JIT-06: every frame is found, and says how",
    arguments: expectations)
  func findsEveryFrame(_ expected: Expectation) throws {
    let stack = try StoppedStack(expected.program)
    let captured = try stack.capture(secondThread: expected.secondThread)
    let walk = Unwinder().walk(captured.snapshot, in: captured.space)
    let names = stack.names(walk, in: captured.space)
    #expect(names.starts(with: expected.names), "\(names)")
    #expect(walk.end == expected.end)
    #expect(walk.frames.map(\.frame.trust).filter { $0 != .exact } == expected.guesses)
    if expected.end != .root { #expect(names.count == expected.names.count) }
  }

  /// As in a statically linked program: there are rules but no sorted table of them.
  @Test("UW-01: rules are found without a table of them") func findsRulesWithoutATable() throws {
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

  /// `makecontext` puts the address of its own start-up code where the first function will return to; looked up one byte
  /// earlier, it would be in the function before it.
  @Test("UW-13: a made return address is taken as it is") func takesAMadeReturnAddressAsItIs() throws {
    let captured = try StoppedStack("walk-fiber").capture()
    let frames = Unwinder().walk(captured.snapshot, in: captured.space).frames
    let start = try #require(frames.last), body = try #require(frames.dropLast().last)
    #expect(start.lookupAddress == start.frame.moduleOffset)
    #expect(body.lookupAddress == body.frame.moduleOffset.map { $0 - 1 })
  }

  /// What is left of a file that was put together from memory: no section headers.
  @Test("UW-01: a file without section headers has its rules") func needsNoSections() throws {
    let captured = try StoppedStack("walk-rules").capture()
    let own = try #require(captured.ownImage)
    let file = CapturedTarget.withoutSections(try captured.ownFile())
    let image = try ElfImage(pages: FilePages(contents: file), identity: own.identity)
    #expect(image.section(named: ".text") == nil)
    #expect(image.buildID == own.buildID)
    let walk = Unwinder().walk(captured.snapshot, in: captured.space(with: image))
    #expect(walk.end == .root)
    #expect(
      walk.frames.map(\.frame)
        == Unwinder().walk(captured.snapshot, in: captured.space).frames.map(\.frame))
  }

  /// Neither table nor sections: the checked frame pointers of code that keeps them, and no more than that.
  @Test("UW-01: without any rules, checked frame pointers are followed, and no more than that")
  func goesByFramePointersWithoutAnyRules() throws {
    let stack = try StoppedStack("walk-frame-pointer")
    let captured = try stack.capture()
    let own = try #require(captured.ownImage)
    let file = CapturedTarget.withoutSections(try captured.ownFileWithoutTable())
    let image = try ElfImage(pages: FilePages(contents: file), identity: own.identity)
    let space = captured.space(with: image)
    let walk = Unwinder().walk(captured.snapshot, in: space)
    #expect(walk.end == .root)
    #expect(stack.names(walk, in: space).starts(with: ["innermost", "call_without_rules", "outer"]))
    #expect(walk.frames.map(\.frame.trust).contains(.framePointer))
  }

  /// At the program's first instruction, from which nothing was called yet.
  @Test("UW-08: a stack ends at the entry point") func endsAtTheEntryPoint() throws {
    let captured = try StoppedStack("walk-rules").capture()
    let whole = Unwinder().walk(captured.snapshot, in: captured.space)
    let start = try #require(whole.frames.last?.frame)
    let image = try #require(captured.ownImage)
    var snapshot = captured.snapshot
    snapshot.registers[Registers.programCounter] =
      start.programCounter - (try #require(start.moduleOffset)) + image.entry
    let walk = Unwinder().walk(snapshot, in: captured.space)
    #expect(walk.frames.count == 1)
    #expect(walk.end == .root)
  }

  /// The rule for all of a PLT is one expression of the pc: an entry pushes a word on its way.
  @Test(
    "UW-10: the caller is found from the PLT",
    arguments: [(into: 0, pushed: 0), (6, 0), (11, 1)] as [(into: UInt64, pushed: UInt64)])
  func walksFromThePLT(_ place: (into: UInt64, pushed: UInt64)) throws {
    let captured = try StoppedStack("walk-rules").capture()
    let plt = try #require(captured.ownImage?.section(named: ".plt"))
    let whole = Unwinder().walk(captured.snapshot, in: captured.space)
    let own = try #require(captured.ownImage)
    let index = try #require(whole.frames.firstIndex { $0.image === own })
    let caller = whole.frames[index].frame
    // As if `innermost` were just calling: its return address on the stack, and the pc in the second entry.
    let position = try #require(captured.snapshot.offset(ofWord: caller.programCounter))
    var snapshot = captured.snapshot
    snapshot.registers[Registers.stackPointer] =
      snapshot.stackAddress + UInt64(position) - place.pushed * 8
    snapshot.registers[Registers.programCounter] =
      caller.programCounter - (try #require(caller.moduleOffset)) + plt.virtualAddress + 16 + place.into
    let walk = Unwinder().walk(snapshot, in: captured.space)
    #expect(walk.end == .root)
    #expect(walk.frames.dropFirst().map(\.frame) == whole.frames[index...].map(\.frame))
  }

  /// As Go's linker leaves them.
  @Test("UW-12: compressed rules for debuggers are used") func findsCompressedRules() throws {
    let stack = try StoppedStack("walk-debug-rules")
    let captured = try stack.capture()
    let own = try #require(captured.ownImage)
    let section = try #require(own.section(named: ".debug_frame"))
    let bytes = try #require(own.contents(ofSection: ".debug_frame", limit: 1 << 20))
    let file = try #require(captured.ownFile().compressing(section, bytes))
    let image = try ElfImage(pages: FilePages(contents: file), identity: own.identity)
    #expect(image.section(named: ".debug_frame") == nil)
    #expect(image.contents(ofSection: ".debug_frame", limit: 1 << 20) == bytes)
    #expect(image.contents(ofSection: ".debug_frame", limit: bytes.count - 1) == nil)
    let space = captured.space(with: image)
    let walk = Unwinder().walk(captured.snapshot, in: space)
    #expect(stack.names(walk, in: space).starts(with: ["innermost", "call_with_debug_rules", "outer"]))
    #expect(walk.end == .root)
    var damaged = file
    for place in stride(from: file.count - bytes.count - 11, to: file.count, by: 3) {
      damaged[place] ^= 0xFF
      let image = try ElfImage(pages: FilePages(contents: damaged), identity: own.identity)
      #expect(image.contents(ofSection: ".debug_frame", limit: 1 << 20) != bytes)
      #expect(!Unwinder().walk(captured.snapshot, in: captured.space(with: image)).frames.isEmpty)
    }
  }

  /// A place in a file without a name is all that can be said of generated code.
  @Test("SYM-19: code in a memory file is shown by its place there") func tellsThePlaceInAMemoryFile() throws
  {
    let captured = try StoppedStack("walk-memory-file").capture()
    let frames = Unwinder().walk(captured.snapshot, in: captured.space).frames.map(\.frame)
    let generated = try #require(frames.first { $0.isGenerated })
    let region = try #require(captured.space.region(containing: generated.programCounter))
    #expect(generated.module?.path == "/memfd:generated")
    #expect(generated.moduleOffset == generated.programCounter - region.start + 4096)
    #expect(captured.space.isUnknown(0))
    #expect(!captured.space.isUnknown(region.start))
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
