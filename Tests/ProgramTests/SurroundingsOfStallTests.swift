// A stall that is the doing of the program's cgroup.

import Glibc
import Linux
import TestSupport
import Testing

@Suite(.serialized) struct SurroundingsOfStallTests {
  @Test("TIME-05: a quota that is used up is the cause, and no block")
  func quotaThatIsUsedUpIsTheCause() throws {
    guard let group = QuotaGroup() else { return print("skipped: no group with a quota can be made") }
    var target = try TargetProcess.start("stalling-loop", "epoll", "compute")
    try group.add(target.processID)
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)"])
    _ = try watch.next("notice", kind: "loop.found")
    target.signal(SIGUSR1)
    _ = try watch.next("stall", state: "ongoing")
    let ended = try watch.next("stall", state: "ended")
    #expect(ended["cause"]?.object["kind"] == .string("cpu.throttled"))
    #expect(ended["class"] == .string("starved"))
    let surroundings = try #require(ended["surroundings"]?.object)
    #expect(try #require(surroundings.number("throttled_times")) > 0)
    let throttled = try #require(surroundings.number("throttled_ms"))
    #expect(throttled > 0)
    _ = try target.readLine()
    target.signal(SIGKILL)
    _ = try target.waitForExit()
  }
}

/// A cgroup whose processes get a twentieth of a core; removed at its end.
private struct QuotaGroup: ~Copyable {
  private let path: String

  /// Nil where that is not allowed.
  init?() {
    let name = "stallwatch-test-\(getpid())"
    for (root, settings) in [
      ("/sys/fs/cgroup/cpu", ["cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "5000"]),
      ("/sys/fs/cgroup", ["cpu.max": "5000 100000"]),
    ] {
      let path = "\(root)/\(name)"
      guard unsafe mkdir(path, 0o755) == 0 else { continue }
      let isSet = settings.sorted { $0.key < $1.key }.allSatisfy {
        Self.write($0.value, to: "\(path)/\($0.key)")
      }
      if isSet {
        self.path = path
        return
      }
      unsafe rmdir(path)
    }
    return nil
  }

  deinit {
    let path = self.path
    _ = eventually { unsafe rmdir(path) == 0 }
  }

  func add(_ process: Int32) throws(Errno) {
    guard Self.write("\(process)", to: "\(path)/cgroup.procs") else { throw .inputOutput }
  }

  private static func write(_ text: String, to path: String) -> Bool {
    let descriptor = unsafe open(path, O_WRONLY)
    guard descriptor >= 0 else { return false }
    return (try? FileDescriptor(owning: descriptor).write(Array(text.utf8))) != nil
  }
}
