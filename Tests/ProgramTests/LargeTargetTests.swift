// Targets of many threads and many mappings: what is read of them, how often, and what it leaves behind in us.

import Glibc
import Linux
import TestSupport
import Testing

@Suite(.serialized) struct LargeTargetTests {
  @Test("SCALE-01: a dump on demand is bounded, and says what it left out")
  func dumpIsBounded() throws {
    let target = try TargetProcess.start("parked-crowd", "400")
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)"])
    _ = try watch.next("attach")
    watch.signal(SIGUSR1)
    let summary = try watch.next("dump_summary")
    #expect(summary.number("threads") == 256 && summary.number("omitted") == 145)
  }

  @Test(
    "SCALE-01: of 20,000 threads a bounded number is followed, and stalls are found",
    arguments: ["auto", "all"])
  func followedThreadsAreBounded(_ choice: String) throws {
    let target = try TargetProcess.start("parked-crowd", "20000")
    var watch = try WatchRun([
      "--json", "--pid", "\(target.processID)", "--threshold", "200ms", "--thread", choice, "--cooldown", "0",
    ])
    for _ in 0..<5 {
      let ended = try watch.next("stall", state: "ended")
      #expect(ended["thread"]?.object["role"] == .string("main"))
    }
    watch.signal(SIGTERM)
    let summary = try watch.next("summary")
    let stalls = summary.number("stalls") ?? 0
    #expect(stalls >= 5, "\(summary), \(watch.records(of: "stall").map { [$0["id"], $0["state"]] })")
    let texts = watch.records(of: "notice").compactMap { $0["text"]?.string }
    #expect(texts.filter { $0.hasPrefix("only the first 64 threads") }.count == (choice == "all" ? 1 : 0))
    #expect(texts.count < 6, "\(texts)")
  }

  @Test("SCALE-02: stacks have names among 65,000 mappings")
  func manyMappings() throws {
    let target = try TargetProcess.start("many-mappings", "65000")
    let mappings = try shell("wc -l </proc/\(target.processID)/maps").output
    #expect(try #require(Int(mappings)) > 60_000)
    // On a busy machine the list can miss its deadline.
    let isNamed = try (0..<5).contains { _ in
      var dump = try WatchRun(["dump", "--json", "--pid", "\(target.processID)"])
      return try dump.next("dump").symbols.contains("main")
    }
    #expect(isNamed)
  }

  @Test(
    "SCALE-05: looks read no mappings, and a capture reads them once",
    arguments: ["idle poll", "parked-crowd 1"])
  func mappingsAreReadRarely(_ program: String) throws {
    let words = program.split(separator: " ").map(String.init)
    let target = try TargetProcess.start(words[0], words[1])
    let (output, ofTarget) = try filesOpened(
      of: target.processID, "--json --pid \(target.processID) -t 100ms --duration 1s --count 2")
    #expect(!ofTarget.isEmpty)
    let reads = ofTarget.count { $0.hasSuffix("/maps") }
    // With each copy of a stack, of the first few waits, of samples or for a record, goes the thread's name.
    let copies = ofTarget.count { $0.hasSuffix("/comm") }
    let looks = output.ranges(of: "\"looks\":").count
    #expect(looks == 1 && reads <= copies && copies <= 16, "\(ofTarget)")
  }

  /// Some lists are sent again only when they have changed, and longer ones are not compared.
  @Test(
    "SCALE-05: however many threads a dump tells of, the list of mappings is read a few times",
    arguments: [10, 8_000, 30_000])
  func mappingsAreReadOnceForADump(_ mappings: Int) throws {
    let threads = 300
    let target = try TargetProcess.start("parked-crowd", "\(threads)", "\(mappings)")
    let process = target.processID
    let (output, opened) = try filesOpened(of: process, "dump --json --pid \(process)")
    #expect(output.ranges(of: "\"type\":\"dump\"").count == threads + 1)
    let lists = opened.count { $0.hasSuffix("/maps") }
    #expect((1...3).contains(lists))
    // For this one the kernel adds up all threads.
    let sums = opened.count { $0 == "/proc/\(process)/stat" }
    #expect((1...10).contains(sums))
  }

  /// What `open` was asked for, told by a library that is loaded before the C library.
  private func filesOpened(
    of process: Int32, _ words: String
  ) throws -> (output: String, opened: [String]) {
    let path = "/tmp/stallwatch-test-\(getpid())-opens"
    defer { for name in [path, path + ".so"] { unsafe unlink(name) } }
    let build = try shell("printf '%s' '\(Self.openTeller)' | cc -shared -fPIC -x c - -o \(path).so")
    #expect(build.status == .exited(0))
    let (output, status) = try shell("OPENS=\(path) LD_PRELOAD=\(path).so $W \(words)")
    #expect(status == .exited(0))
    let opened = String(decoding: try FileDescriptor.open(path).readAll(limit: 1 << 20), as: UTF8.self)
    return (
      output, opened.split(separator: "\n").map(String.init).filter { $0.hasPrefix("/proc/\(process)/") }
    )
  }

  private static let openTeller = """
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <fcntl.h>
    #include <stdarg.h>
    #include <stdlib.h>
    #include <string.h>
    #include <unistd.h>
    int open(const char *path, int flags, ...) {
      int (*next)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
      va_list rest;
      va_start(rest, flags);
      int mode = va_arg(rest, int);
      va_end(rest);
      int told = next(getenv("OPENS"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
      char line[512];
      size_t length = strnlen(path, sizeof line - 1);
      memcpy(line, path, length);
      line[length] = 10;
      if (told >= 0 && write(told, line, length + 1) < 0) abort();
      close(told);
      return next(path, flags, mode);
    }
    """

  /// A stop of a thread that sleeps counts as a switch of its own accord.
  @Test("PT-23: a stall stops the stalled thread and no other")
  func onlyTheStalledThreadIsStopped() throws {
    let target = try TargetProcess.start("parked-crowd", "20")
    let workers = try ThreadList.threads(of: target.processID).filter { $0 != target.processID }
    // 34 is `pause`.
    let areParked = eventually {
      workers.allSatisfy { (try? readPseudoFile("/proc/\($0)/syscall"))?.starts(with: "34 ".utf8) == true }
    }
    #expect(areParked)
    let before = try workers.map { try switches($0) }
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)", "-t", "100ms", "--count", "2"])
    try watch.readToEnd()
    let captured = watch.records(of: "stall").flatMap { $0["stacks"]?.array ?? [] }
    #expect(!captured.isEmpty)
    #expect(captured.allSatisfy { $0.object.number("tid") == Double(target.processID) })
    #expect(try workers.map { try switches($0) } == before)
    // So the counts can tell.
    #expect(try shell("$W dump --observer proc --pid \(target.processID)").status == .exited(0))
    #expect(try zip(before, workers).allSatisfy { try $0 < switches($1) })
  }

  private func switches(_ thread: Int32) throws -> UInt64 {
    try #require(ProcessStatus(path: "/proc/\(thread)/status").voluntarySwitches)
  }

  /// The allocator keeps some of what it once had, hence the room; what grows with each dump would be far beyond it.
  @Test("SCALE-06: memory and descriptors do not grow with the number of dumps")
  func nothingIsKept() throws {
    let target = try TargetProcess.start("birth-chain", "4")
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)"])
    _ = try watch.next("attach")
    func dump(_ times: Int) throws {
      for _ in 0..<times {
        watch.signal(SIGUSR1)
        _ = try watch.next("dump_summary")
      }
    }
    try dump(10)
    let before = try resources(of: watch.processID)
    try dump(40)
    let after = try resources(of: watch.processID)
    #expect(after.descriptors <= before.descriptors + 10)
    #expect(after.kilobytes <= before.kilobytes + 4096)
  }

  private func resources(of process: Int32) throws -> (descriptors: Int, kilobytes: Int) {
    let (output, _) = try shell(
      "ls /proc/\(process)/fd | wc -l; sed -n 's/^RssAnon:[^0-9]*\\([0-9]*\\).*/\\1/p' /proc/\(process)/status"
    )
    let numbers = output.split(separator: "\n").compactMap { Int($0) }
    return (numbers[0], numbers[1])
  }
}
