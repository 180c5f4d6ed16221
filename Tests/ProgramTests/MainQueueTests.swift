// Programs whose main queue has no thread of its own: made up, and as the Swift compiler makes them.

import FoundationEssentials
import Glibc
import Linux
import TestSupport
import Testing

@Suite(.serialized) struct MainQueueTests {
  private static let follows =
    "the main thread runs no loop; following the main queue of libdispatch, which has no thread of its own"

  @Test("SW-04: the main queue is followed from thread to thread")
  func queueIsFollowedFromThreadToThread() throws {
    var target = try TargetProcess.start("main-queue")
    var watch = try WatchRun([
      "--json", "--pid", "\(target.processID)", "--threshold", "100ms", "--cooldown", "0",
    ])
    #expect(try watch.next("notice", kind: "thread.followed")["text"]?.string == Self.follows)
    for _ in 0..<2 {
      target.signal(SIGUSR1)
      let ended = try watch.next("stall", state: "ended")
      let thread = try target.readLine()
      #expect(ended["thread"]?.object["tid"] == .number(Double(thread) ?? 0))
      #expect(ended["thread"]?.object["role"] == .string("main-queue"))
      #expect(ended["verified"] == .boolean(true))
      #expect(ended.symbols.contains("stall_in_main_queue"))
    }
    watch.signal(SIGTERM)
    #expect(try watch.next("summary")["stalls"] == .number(2))
  }

  @Test("SW-04: a main queue that cannot be seen is told, and what to do instead")
  func hiddenQueueIsTold() throws {
    let target = try TargetProcess.start("main-queue", "foreign")
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)", "--threshold", "100ms"])
    let text = try #require(try watch.next("notice", kind: "loop.none")["text"]?.string)
    #expect(text.contains("main queue of libdispatch") && text.contains("--thread all"))
    watch.signal(SIGTERM)
    try watch.readToEnd()
    #expect(watch.records(of: "stall").isEmpty)
  }

  /// Nil where there is no compiler.
  private func compiled(_ source: String, _ flags: String, in directory: borrowing TemporaryDirectory) throws
    -> String?
  {
    let file = directory.path + "/program.swift"
    try FileDescriptor.create(file).write(Array(source.utf8))
    let made = "swiftc -Onone \(flags) -parse-as-library \(file) -o \(directory.path)/program 2>&1"
    guard try shell(made).status == .exited(0) else {
      print("skipped: cannot make it by swiftc \(flags)")
      return nil
    }
    return directory.path + "/program"
  }

  private static let asynchronous = """
    import Glibc
    func innermost() async -> Int { usleep(600_000); return 1 }
    func middle() async -> Int { await innermost() + 1 }
    func outermost() async -> Int { await middle() + 1 }
    @main struct Program {
      @MainActor static func main() async {
        setvbuf(stdout, nil, _IOLBF, 0)
        print("ready")
        while true {
          try? await Task.sleep(nanoseconds: 400_000_000)
          _ = await work()
        }
      }
      @MainActor static func work() async { usleep(600_000); _ = await Task.detached { await outermost() }.value }
    }
    """

  @Test(
    "SW-03, SW-04: an asynchronous main stalls on whatever thread it is, down to the executor",
    arguments: ["", "-static-stdlib"])
  func asynchronousMain(_ flags: String) throws {
    let directory = try TemporaryDirectory()
    guard let program = try compiled(Self.asynchronous, flags, in: directory) else { return }
    var target = try TargetProcess(path: program, arguments: [])
    #expect(try target.readLine() == "ready")
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)", "--threshold", "200ms"])
    #expect(try watch.next("notice", kind: "thread.followed")["text"]?.string == Self.follows)
    let ended = try watch.next("stall", state: "ended")
    #expect(ended["thread"]?.object["role"] == .string("main-queue"))
    #expect(ended["verified"] == .boolean(true))
    #expect(ended.symbols.contains { $0.contains("usleep") }, "\(ended.symbols)")
    #expect(ended.symbols.contains("swift_job_run"), "\(ended.symbols)")
    // What a detached task does is no stall of the main queue.
    #expect(!ended.symbols.contains { $0.contains("innermost") })
  }

  @Test("SW-03: a thread of the pool shows its frames down to the executor")
  func threadOfThePool() throws {
    let directory = try TemporaryDirectory()
    guard let program = try compiled(Self.asynchronous, "", in: directory) else { return }
    var target = try TargetProcess(path: program, arguments: [])
    #expect(try target.readLine() == "ready")
    var watch = try WatchRun([
      "--json", "--pid", "\(target.processID)", "--threshold", "200ms", "--thread", "all", "--cooldown", "0",
    ])
    while true {
      let ended = try watch.next("stall", state: "ended")
      guard ended.symbols.contains(where: { $0.contains("innermost") }) else { continue }
      #expect(ended.symbols.contains("swift_job_run"), "\(ended.symbols)")
      return
    }
  }
}
