// Stacks in more than one piece: deep ones, those that a signal left for another, and those that change meanwhile.

import Glibc
import Linux
import Stacks
import StallCore
import TestSupport
import Testing

@Suite struct DeepStackTests {
  /// Captures as the watch does, and walks without a limit that matters.
  private static func walk(
    _ stack: borrowing StoppedStack, _ helper: inout CaptureHelper, _ space: AddressSpace,
    _ rules: CaptureRules = CaptureRules(), thread: Int32? = nil
  ) throws -> (snapshot: ThreadSnapshot, walk: Walk) {
    let snapshot = try helper.capture(
      processID: stack.processID, threadID: thread ?? stack.processID, rules: rules, deadline: patience
    ).snapshot()
    return (snapshot, Unwinder().walk(snapshot, in: space, limit: 100_000))
  }

  @Test(arguments: [100_000, 1 << 20])
  func reachesTheRootOfABlockedThread(bytes: Int) throws {
    let stack = try StoppedStack("walk-deep", "\(bytes)")
    let space = try stack.capture().space
    var helper = testHelper()
    var (snapshot, walk) = try Self.walk(stack, &helper, space)
    // On a busy machine the proof that all is of one moment may fail.
    for _ in 0..<100 where walk.usedLaterBytes { (snapshot, walk) = try Self.walk(stack, &helper, space) }
    #expect(snapshot.way == .ptrace)
    #expect(snapshot.stackBytes.count < CaptureHelper.usualStackBytes)
    #expect(snapshot.morePieces.map(\.isLater) == [false])
    #expect(walk.end == .root)
    let usedLaterBytes = walk.usedLaterBytes
    #expect(!usedLaterBytes)
    let names = stack.names(walk, in: space)
    #expect(names.filter { $0 == "recurse" }.count == bytes / 8192 + 1)
  }

  @Test("UW-22: what was copied of a running thread after it went on is marked", arguments: [true, false])
  func reachesTheRootOfARunningThread(maySample: Bool) throws {
    let stack = try StoppedStack("walk-deep", "\(1 << 20)", "spin")
    let space = try CapturedTarget(processID: stack.processID, threadID: stack.processID).space
    var helper = maySample ? testHelper() : helperWithoutPerf()
    let (snapshot, walk) = try Self.walk(stack, &helper, space)
    #expect(snapshot.way == (maySample && isSamplingAllowed ? .perf : .ptrace))
    #expect(snapshot.morePieces.map(\.isLater) == [true])
    #expect(walk.end == .root)
    let usedLaterBytes = walk.usedLaterBytes
    #expect(usedLaterBytes)
    #expect(stack.names(walk, in: space).filter { $0 == "recurse" }.count == 129)
  }

  @Test func copiesADeepStackWithoutStopping() throws {
    let stack = try StoppedStack("walk-deep", "\(1 << 20)")
    let space = try stack.capture().space
    var helper = testHelper()
    let snapshot = try Self.walk(stack, &helper, space, CaptureRules(mayStop: false)).snapshot
    #expect(snapshot.way == .syscallFile)
    #expect(snapshot.morePieces.map(\.isLater) == [false])
    let end = try #require(snapshot.morePieces.last.map { $0.address + UInt64($0.bytes.count) })
    #expect(end == space.region(containing: snapshot.stackAddress)?.end)
  }

  /// Other mappings follow that of a thread's stack at once: the copy of a shallow one may reach into them, the rest of a
  /// deep one does not.
  @Test(arguments: [0, 200_000])
  func copiesNoRestBehindTheStack(bytes: Int) throws {
    let stack = try StoppedStack("walk-deep", "\(bytes)", "thread")
    let captured = try stack.capture(secondThread: true)
    var helper = testHelper()
    let thread = captured.snapshot.threadID
    let (snapshot, walk) = try Self.walk(stack, &helper, captured.space, thread: thread)
    let end = try #require(captured.space.region(containing: snapshot.stackAddress)?.end)
    #expect(captured.space.region(containing: end) != nil)
    #expect(snapshot.morePieces.map { $0.address + UInt64($0.bytes.count) } == (bytes == 0 ? [] : [end]))
    #expect(walk.end == .root)
    #expect(stack.names(walk, in: captured.space).last == "recurse_in_thread")
  }

  @Test func findsWhatASignalInterruptedOnAnotherStack() throws {
    let stack = try StoppedStack("walk-alternate-stack")
    let space = try stack.capture().space
    var helper = testHelper()
    let (snapshot, walk) = try Self.walk(stack, &helper, space)
    #expect(snapshot.morePieces.count == 1)
    #expect(walk.end == .root)
    let names = stack.names(walk, in: space)
    #expect(
      names.starts(with: [
        "innermost", "stop_in_handler", "signal", "spin_at_first_instruction", "call_spinning",
      ]), "\(names)")
    let interrupted = try #require(snapshot.morePieces.first)
    // It may not be blocked again at once.
    var alone: ThreadSnapshot?
    #expect(
      eventually {
        alone = try? Self.walk(stack, &helper, space, CaptureRules(mayStop: false)).snapshot
        return alone != nil
      })
    #expect(alone?.morePieces.map(\.address) == [interrupted.address])
  }

  @Test(
    "the same in a sample, where it is of a later moment", .enabled(if: isSamplingAllowed, "no perf events"))
  func findsWhatASignalInterruptedWhileItsHandlerRuns() throws {
    let stack = try StoppedStack("walk-alternate-stack", "spin")
    let space = try CapturedTarget(processID: stack.processID, threadID: stack.processID).space
    var helper = testHelper()
    let (snapshot, walk) = try Self.walk(stack, &helper, space)
    // The other stack, and what lies behind as much of it as is read at once.
    #expect(snapshot.way == .perf && !snapshot.morePieces.isEmpty)
    let areLater = snapshot.morePieces.allSatisfy(\.isLater)
    #expect(areLater)
    let usedLaterBytes = walk.usedLaterBytes
    #expect(walk.end == .root && usedLaterBytes)
    let names = stack.names(walk, in: space)
    #expect(
      names.starts(with: ["compute_in_handler", "signal", "spin_at_first_instruction", "call_spinning"]),
      "\(names)")
  }

  /// The stack pointer lies in the guard page.
  @Test("UW-16: a stack overflow in a prologue is shown") func showsAnOverflow() throws {
    let stack = try StoppedStack("walk-overflow")
    let captured = try stack.capture(secondThread: true)
    var helper = testHelper()
    let walk = try Self.walk(stack, &helper, captured.space, thread: captured.snapshot.threadID).walk
    let names = stack.names(walk, in: captured.space)
    #expect(
      names.starts(with: ["innermost", "stop_in_handler", "signal", "overflow", "overflow"]), "\(names)")
    #expect(names.last == "overflowing_body")
    #expect(walk.end == .root)
  }

  /// Of 800 libraries only those on the stack are opened.
  @Test("UW-24: of 800 libraries only those on the stack are opened") func walksThroughManyLibraries() throws
  {
    let compiler = "/usr/bin/cc"
    guard unsafe access(compiler, X_OK) == 0 else { return print("skipped: no compiler") }
    let directory = try TemporaryDirectory()
    let source = "\(directory.path)/library.c", first = "\(directory.path)/0.so"
    let text = """
      void through(void (**functions)(void *, int), int index) {
        functions[index](functions, index + 1);
        __asm__ volatile("" ::: "memory");
      }
      """
    try FileDescriptor.create(source).write(Array(text.utf8))
    var compilation = try TargetProcess(
      path: compiler, arguments: ["-shared", "-fPIC", "-O1", "-o", first, source])
    guard try compilation.waitForExit() == .exited(0) else {
      return print("skipped: the compiler cannot link")
    }
    let library = try FileDescriptor.open(first).readAll(limit: 1 << 20)
    let count = 800
    for index in 1..<count { try FileDescriptor.create("\(directory.path)/\(index).so").write(library) }
    let stack = try StoppedStack("walk-libraries", directory.path, "\(count)")
    let captured = try stack.capture()
    let opened = OpenedImages(captured.files)
    let space = AddressSpace(map: captured.space.map, image: opened.image(for:))
    let walk = Unwinder().walk(captured.snapshot, in: space)
    #expect(walk.end == .root)
    let inLibraries = walk.frames.filter {
      $0.frame.module?.path.bytes.starts(with: directory.path.utf8) == true
    }
    #expect(inLibraries.count == 60)
    #expect(walk.frames.allSatisfy { $0.frame.trust == .exact })
    // Thirty, the program and the C library.
    #expect(opened.identities.count == 32)
  }

  /// Captured at any instruction of short functions, no stack is torn, shortened or guessed.
  @Test("UW-16, UW-22: at whatever instruction a thread is captured, its stack is whole and of one moment")
  func mixesNoTwoMoments() throws {
    let stack = try StoppedStack("walk-chains")
    let space = try CapturedTarget(processID: stack.processID, threadID: stack.processID).space
    var helper = testHelper()
    let chains = [["spin", "chain_c", "chain_b", "chain_a"], ["spin", "other_z", "other_y", "other_x"]]
    var lengths: Set<Int> = []
    for _ in 0..<500 {
      let walk = try Self.walk(stack, &helper, space).walk
      let names = Array(stack.names(walk, in: space).prefix { $0 != "walk_chains_run" })
      #expect(chains.contains { $0.suffix(names.count) == names[...] }, "\(names)")
      #expect(walk.end == .root)
      #expect(walk.frames.allSatisfy { $0.frame.trust == .exact })
      lengths.insert(names.count)
    }
    #expect(lengths.count > 2)
  }
}

/// Which files a walk asked for.
private final class OpenedImages {
  private let files: TargetFiles
  private(set) var identities: Set<FileIdentity> = []

  init(_ files: TargetFiles) { self.files = files }

  func image(for region: MemoryRegion) -> ElfImage? {
    identities.insert(region.identity)
    return files.image(for: region)
  }
}
