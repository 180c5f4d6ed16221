// Programs whose loop is that of a real library, built by the tests.

import Glibc
import Linux
import StallCore
import TestSupport
import Testing

/// Where the library is there. After SIGUSR2 the program computes 5 ms a round for
/// three seconds, then once for as long as asked, and prints when; with one millisecond it prints at once.
enum LibraryLoop {
  private static let work = """
    #define _GNU_SOURCE
    #include <signal.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <sys/eventfd.h>
    #include <time.h>
    #include <unistd.h>
    static long now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000L + t.tv_nsec; }
    static void spin_for(long time) { long end = now() + time; while (now() < end) {} }
    static volatile sig_atomic_t asked;
    static void ask(int signal) { asked = signal; }
    static long loaded_until;
    static int work(void) {
      if (asked) { asked = 0; loaded_until = now() + (LENGTH > 1 ? 3000000000L : 0); }
      if (!loaded_until) return 0;
      if (now() < loaded_until) { spin_for(5000000); return 1; }
      loaded_until = 0;
      long start = now();
      spin_for(LENGTH * 1000000L);
      printf("%ld %ld\\n", start, now());
      return 0;
    }
    """

  /// With an argument there is an eventfd of somebody else's in its set, whose number it prints.
  private static let glib = """
    #include <glib.h>
    #include <glib-unix.h>
    static gboolean once(gpointer x) { return work(); }
    static gboolean tick(gpointer x) { if (asked) g_idle_add(once, NULL); return 1; }
    static gboolean ignore(gint descriptor, GIOCondition condition, gpointer x) { return 1; }
    int main(int count, char **arguments) {
      setvbuf(stdout, NULL, _IOLBF, 0);
      signal(SIGUSR2, ask);
      GMainLoop *loop = g_main_loop_new(NULL, FALSE);
      g_timeout_add(100, tick, NULL);
      puts("ready");
      if (count > 1) {
        int foreign = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        g_unix_fd_add(foreign, G_IO_IN, ignore, NULL);
        printf("%d\\n", foreign);
      }
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
      signal(SIGUSR2, ask);
      uv_timer_t timer;
      uv_idle_init(uv_default_loop(), &idle);
      uv_timer_init(uv_default_loop(), &timer);
      uv_timer_start(&timer, tick, 100, 100);
      puts("ready");
      uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    }
    """

  private static let node = """
    const now = () => process.hrtime.bigint();
    const spin = (milliseconds) => { const end = now() + BigInt(milliseconds) * 1000000n; while (now() < end); };
    process.on('SIGUSR2', () => {
      const end = now() + (LENGTH > 1 ? 3000000000n : 0n);
      const round = () => {
        if (now() < end) { spin(5); setImmediate(round); return; }
        const start = now();
        spin(LENGTH);
        console.log(`${start} ${now()}`);
      };
      setImmediate(round);
    });
    setInterval(() => {}, 100);
    console.log('ready');
    """

  /// Signals are taken by a source, which has the manager of libdispatch wait on an epoll.
  private static let swift = """
    import Dispatch
    import Glibc
    setvbuf(stdout, nil, _IOLBF, 0)
    signal(SIGUSR2, SIG_IGN)
    let asked = DispatchSource.makeSignalSource(signal: SIGUSR2, queue: .main)
    asked.setEventHandler { print(DispatchTime.now().uptimeNanoseconds, DispatchTime.now().uptimeNanoseconds) }
    asked.resume()
    print("ready")
    dispatchMain()
    """

  private static let runLoop = """
    import Foundation
    setvbuf(stdout, nil, _IOLBF, 0)
    let timer = Timer(timeInterval: 0.1, repeats: true) { _ in }
    RunLoop.main.add(timer, forMode: .default)
    print("ready")
    RunLoop.main.run()
    """

  /// Nil where the library, or what compiles for it, is not there.
  static func start(
    _ library: String, milliseconds: Int, in directory: borrowing TemporaryDirectory, _ arguments: String...
  ) throws -> TargetProcess? {
    let program = "\(directory.path)/program"
    let (source, text, command) = build(library, program)
    try FileDescriptor.create(source).write(
      Array(text.replacing("LENGTH", with: "\(milliseconds)").utf8))
    let built = try shell("\(command) 2>&1")
    guard built.status == .exited(0) else {
      print("skipped: no program of \(library): \(built.output.prefix(200))")
      return nil
    }
    var target =
      library == "node"
      ? try TargetProcess(path: "/usr/bin/env", arguments: ["node", source])
      : try TargetProcess(path: program, arguments: arguments)
    #expect(try target.readLine() == "ready")
    return target
  }

  private static func build(
    _ library: String, _ program: String
  ) -> (source: String, text: String, command: String) {
    switch library {
    case "node": return ("\(program).js", node, "node --version")
    case "libdispatch", "RunLoop":
      let source = "\(program).swift"
      return (source, library == "RunLoop" ? runLoop : swift, "swiftc -Onone \(source) -o \(program)")
    default:
      let source = "\(program).c"
      return (
        source, work + "\n" + (library == "libuv" ? libuv : glib),
        "pkg-config --exists \(library) && "
          + "cc -o \(program) \(source) $(pkg-config --cflags --libs \(library))"
      )
    }
  }

  /// Whatever its threads wait on now: epolls, or all eventfds if one of them polls.
  static func places(of process: Int32) -> [WakeUpPlace] {
    let threads = (try? ThreadList.threads(of: process)) ?? []
    return threads.compactMap { thread in
      guard let text = try? readPseudoFile("/proc/\(process)/task/\(thread)/syscall"),
        case .call(let number, let arguments, _, _) = SystemCallRecord(text.span)
      else { return nil }
      switch number {
      case SystemCallNumber.epollWait, SystemCallNumber.epollPwait:
        return .epoll(Int32(truncatingIfNeeded: arguments[0]))
      case SystemCallNumber.poll, SystemCallNumber.ppoll:
        return .set((0..<64).filter { EventCounter(process: process, descriptor: $0) != nil })
      default: return nil
      }
    }
  }
}
