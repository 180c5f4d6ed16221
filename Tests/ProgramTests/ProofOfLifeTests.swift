// `--heartbeat` and `--ping`, end to end: loops that never sleep, judged without a breakpoint.

import Glibc
import Linux
import TestSupport
import Testing

@Suite(.serialized) struct ProofOfLifeTests {
  private func watch(_ target: borrowing TargetProcess, _ options: String...) throws -> WatchRun {
    try WatchRun(["--json", "--pid", "\(target.processID)", "--no-breakpoint"] + options)
  }

  /// Between two parks there are seconds of work that no look sees interrupted.
  @Test("IDLE-03: a heartbeat tells one long job from many short ones") func heartbeatTellsLoadFromAStall()
    throws
  {
    var target = try TargetProcess.start("heart", "loaded")
    var watch = try watch(target, "--heartbeat", "heart_rounds")
    let notice = try watch.next("notice", kind: "passes.heartbeat")
    #expect(notice["text"]?.string == "heartbeat heart_rounds is TestTarget:heart_rounds, 8 bytes")
    _ = try watch.next("notice", kind: "loop.found")
    target.signal(SIGUSR1)
    let ended = try watch.next("stall", state: "ended")
    let truth = try target.readLine().split(separator: " ").compactMap { Int64($0) }
    #expect(ended["proof"]?.string == "heartbeat" && ended["verified"] == .boolean(true))
    try expectBounds(of: ended, truth)
    watch.signal(SIGINT)
    let summary = try watch.next("summary")
    #expect(summary["stalls"] == .number(1))
  }

  /// What the breakpoint does not see, although it is armed, is believed to be a pass: a person has said so.
  @Test(.enabled(if: canSetBreakpoints)) func breakpointThatSeesLessIsNotUsedAnyMore() throws {
    let target = try TargetProcess.start("heart", "idle", "helped")
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)", "--heartbeat", "heart_of_another"])
    _ = try watch.next("notice", kind: "loop.found")
    target.signal(SIGUSR1)
    let notice = try watch.next("notice", kind: "passes.breakpoint")
    #expect(notice["text"]?.string?.hasPrefix("the heartbeat sees the loop come round") ?? false)
    watch.signal(SIGINT)
    #expect(try watch.next("summary")["stalls"] == .number(0))
  }

  @Test func variableThatStandsStillIsIgnored() throws {
    let target = try TargetProcess.start("heart", "idle")
    var watch = try watch(target, "--heartbeat", "heart_stands_still", "--threshold", "100ms")
    _ = try watch.next("notice", kind: "passes.heartbeat")
    // Ten readings, two seconds apart.
    var notice: [String: JSONValue]?
    for _ in 0..<5 where notice == nil { notice = try? watch.next("notice", kind: "passes.heartbeat") }
    #expect(
      notice?["text"]?.string?.hasSuffix("does not advance when the loop comes round; it is ignored") ?? false
    )
  }

  @Test(arguments: [
    ("heart_round", "is not found; heart_rounds, heart_rounds_32?"),
    ("heart_too_small", "has 2 bytes; a counter has 4 or 8"),
    ("heart_of_thread", "is a thread-local variable"), ("heart_function", "is a function"),
  ]) func mistakenNameIsRefused(name: String, why: String) throws {
    let target = try TargetProcess.start("heart", "idle")
    let run = try shell("stallwatch --pid \(target.processID) --heartbeat \(name) 2>&1")
    #expect(run.status == .exited(2))
    #expect(run.output.contains("--heartbeat \(name) \(why)"), "\(run.output)")
    #expect(run.output.contains("next: "))
  }

  /// What is not there yet may be loaded later.
  @Test func missingModuleIsWaitedFor() throws {
    let target = try TargetProcess.start("heart", "idle")
    var watch = try watch(target, "--heartbeat", "nowhere.so:counter")
    let notice = try watch.next("notice", kind: "passes.heartbeat")
    #expect(notice["text"]?.string?.contains("is in a module that is not loaded (yet)") ?? false)
  }

  @Test func foundAgainInAnotherProgram() throws {
    var watch = try WatchRun([
      "run", "--json", "-o", "/dev/stdout", "--no-breakpoint", "--heartbeat", "heart_rounds", "--",
      "/bin/sh", "-c", "sleep 1; exec \(builtProduct("TestTarget")) heart idle",
    ])
    let first = try watch.next("notice", kind: "passes.heartbeat")
    #expect(first["text"]?.string?.contains("looked for again") ?? false)
    while true {
      let text = try watch.next("notice", kind: "passes.heartbeat")["text"]?.string ?? ""
      if text.contains("is TestTarget:heart_rounds") { break }
    }
    // It is passed on to the program, which ends.
    watch.signal(SIGTERM)
    try watch.readToEnd()
    _ = try watch.end()
  }
}

/// What came between the last pass and the job is waiting for a CPU.
private func expectBounds(of ended: [String: JSONValue], _ truth: [Int64]) throws {
  let least = try #require(ended.number("duration_min_ms"))
  let waited = try #require(ended["breakdown_ms"]?.object.number("runnable"))
  #expect(least - waited <= Double(truth[1] - truth[0]) / 1e6 + 10)
}

/// Loops of libraries that have a wake-up of their own. The program computes 5 ms a round for three seconds after
/// SIGUSR1, then once for longer, and prints when.
@Suite(.serialized) struct PingTests {
  private static let spin = """
    #define _GNU_SOURCE
    #include <signal.h>
    #include <stdio.h>
    #include <time.h>
    #include <unistd.h>
    static long now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000L + t.tv_nsec; }
    static void spin_for(long time) { long end = now() + time; while (now() < end) {} }
    static volatile sig_atomic_t asked;
    static void ask(int signal) { asked = signal; }
    static long loaded_until;
    static int work(void) {
      if (asked) { asked = 0; loaded_until = now() + 3000000000L; }
      if (!loaded_until) return 0;
      if (now() < loaded_until) { spin_for(5000000); return 1; }
      loaded_until = 0;
      long start = now();
      spin_for(LENGTH);
      printf("%ld %ld\\n", start, now());
      return 0;
    }
    """

  private static let glib = """
    #include <glib.h>
    static gboolean once(gpointer x) { return work(); }
    static gboolean tick(gpointer x) { if (asked) g_idle_add(once, NULL); return 1; }
    int main(void) {
      setvbuf(stdout, NULL, _IOLBF, 0);
      signal(SIGUSR1, ask);
      GMainLoop *loop = g_main_loop_new(NULL, FALSE);
      g_timeout_add(100, tick, NULL);
      puts("ready");
      g_main_loop_run(loop);
    }
    """

  private static let libuv = """
    #include <uv.h>
    static uv_idle_t idle;
    static void once(uv_idle_t *handle) { if (!work()) uv_idle_stop(handle); }
    static void tick(uv_timer_t *timer) { if (asked) uv_idle_start(&idle, once); }
    int main(void) {
      setvbuf(stdout, NULL, _IOLBF, 0);
      signal(SIGUSR1, ask);
      uv_timer_t timer;
      uv_idle_init(uv_default_loop(), &idle);
      uv_timer_init(uv_default_loop(), &timer);
      uv_timer_start(&timer, tick, 100, 100);
      puts("ready");
      uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    }
    """

  /// Nil where the library's headers are not installed.
  private static func program(_ library: String, _ text: String, milliseconds: Int, in directory: String)
    throws
    -> String?
  {
    let source = "\(directory)/\(library).c"
    let file = try FileDescriptor.create(source)
    try file.write(Array((spin + "\n" + text).utf8))
    let built = try shell(
      "pkg-config --exists \(library) && cc -DLENGTH=\(milliseconds)000000L -o \(directory)/\(library) \(source) "
        + "$(pkg-config --cflags --libs \(library)) 2>&1")
    return built.status == .exited(0) ? "\(directory)/\(library)" : nil
  }

  @Test(arguments: [("glib-2.0", 900), ("libuv", 1900)]) func pingTellsLoadFromAStall(
    library: String, milliseconds: Int
  ) throws {
    let directory = try TemporaryDirectory()
    let text = library == "libuv" ? Self.libuv : Self.glib
    guard let program = try Self.program(library, text, milliseconds: milliseconds, in: directory.path) else {
      return
    }
    var target = try TargetProcess(path: program, arguments: [])
    #expect(try target.readLine() == "ready")
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)", "--no-breakpoint", "--ping"])
    _ = try watch.next("notice", kind: "loop.found")
    target.signal(SIGUSR1)
    let ended = try watch.next("stall", state: "ended")
    #expect(ended["proof"]?.string == "ping" && ended["verified"] == .boolean(true))
    let truth = try target.readLine().split(separator: " ").compactMap { Int64($0) }
    try expectBounds(of: ended, truth)
    watch.signal(SIGINT)
    let summary = try watch.next("summary")
    #expect(summary["stalls"] == .number(1))
    let responses = try #require(summary["ping_responses"]?.object)
    #expect(try #require(responses.number("count")) > 2)
    #expect(try #require(responses.number("longest_ms")) >= 500)
  }

  /// Never the eventfd of a loop that nobody knows.
  @Test func unknownLoopIsNotTouched() throws {
    let target = try TargetProcess.start("heart", "loaded")
    var watch = try WatchRun([
      "--json", "--pid", "\(target.processID)", "--no-breakpoint", "--ping", "-d", "4s",
    ])
    try watch.readToEnd()
    #expect(watch.records(of: "summary").first?["ping_responses"] == nil)
  }
}
