// The watch itself does not get to look: stopped, starved, or standing still with the program.

import Glibc
import Linux
import TestSupport
import Testing

/// A loop of short jobs for 60 % of its time. No multiple of its rounds is the distance of two looks, or it would be seen at
/// the same point of them again and again.
private func busyLoop() throws -> TargetProcess { try TargetProcess.start("jobs", "31", "22") }

@Suite(.serialized) struct GapTests {
  @Test("TIME-03: a watcher that is stopped for a second says so, and tells of no stall of a busy loop")
  func stoppedWatcherTellsOfNoStall() throws {
    let target = try busyLoop()
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)", "--threshold", "1s"])
    _ = try watch.next("notice", kind: "loop.found")
    try stop([watch.processID], for: 2_500_000)
    try waitForGap(&watch, "stopped by a signal")
    watch.signal(SIGINT)
    #expect(try watch.next("summary")["stalls"] == .number(0))
  }

  @Test("TIME-02: a real stall is proven though the watcher was stopped meanwhile")
  func realStallIsProvenThoughTheWatcherWasStopped() throws {
    let target = try TargetProcess.start("stalling-loop", "epoll", "sleep")
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)", "--threshold", "100ms"])
    _ = try watch.next("notice", kind: "loop.found")
    target.signal(SIGUSR1)
    _ = try watch.next("stall", state: "ongoing")
    try stop([watch.processID], for: 300_000)
    let ended = try watch.next("stall", state: "ended")
    #expect(ended["verified"] == .boolean(true))
    #expect(try #require(ended.number("duration_min_ms")) >= 790)
  }

  @Test("TIME-01, TIME-06: stopped together, watcher and program have no stall", arguments: ["jobs", "idle"])
  func stoppedTogetherThereIsNoStall(_ kind: String) throws {
    let target = try kind == "jobs" ? busyLoop() : TargetProcess.start("slow-reaction", "0")
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)", "--threshold", "1s"])
    _ = try watch.next("notice", kind: "loop.found")
    try stop([target.processID, watch.processID], for: 2_500_000)
    try waitForGap(&watch, "stopped by a signal")
    watch.signal(SIGINT)
    #expect(try watch.next("summary")["stalls"] == .number(0))
  }

  /// The freezer of version 1 leaves a sleeping thread where it is: it does not move, and that proves nothing.
  @Test("TIME-01, TIME-06: frozen together, watcher and program have no stall")
  func frozenTogetherThereIsNoStall() throws {
    let group = "/sys/fs/cgroup/freezer/stallwatch-test-\(getpid())"
    guard unsafe mkdir(group, 0o755) == 0 else {
      return print("skipped: no freezer of version 1, or not allowed")
    }
    defer { unsafe rmdir(group) }
    func write(_ text: String, to file: String) throws {
      let descriptor = unsafe open("\(group)/\(file)", O_WRONLY)
      try FileDescriptor(owning: descriptor).write(Array(text.utf8))
    }
    let target = try TargetProcess.start("stalling-loop", "epoll", "sleep")
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)", "--threshold", "1500ms"])
    _ = try watch.next("notice", kind: "loop.found")
    for process in [target.processID, watch.processID] { try write("\(process)", to: "cgroup.procs") }
    target.signal(SIGUSR1)
    // Looked at in its sleep, and not long enough for a stall.
    usleep(650_000)
    try write("FROZEN", to: "freezer.state")
    usleep(3_000_000)
    try write("THAWED", to: "freezer.state")
    try waitForGap(&watch, "stood still")
    watch.signal(SIGINT)
    #expect(try watch.next("summary")["stalls"] == .number(0))
    watch.signal(SIGKILL)
    _ = try? watch.end()
    target.signal(SIGKILL)
    #expect(eventually { unsafe rmdir(group) == 0 })
  }

  /// On a busy machine others may come before it.
  private func waitForGap(_ watch: inout WatchRun, _ text: String) throws {
    while try watch.next("notice", kind: "observer.late")["text"]?.string?.contains(text) != true {}
  }

  private func stop(_ processes: [Int32], for microseconds: UInt32) throws {
    for process in processes {
      kill(process, SIGSTOP)
      #expect(eventually { (try? threadStates(of: process)[process]) == "T" })
    }
    usleep(microseconds)
    for process in processes { kill(process, SIGCONT) }
  }
}
