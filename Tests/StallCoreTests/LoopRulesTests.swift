// The rules for first stacks: the table itself, how it is read, and what it says of stacks of real programs.

import Testing

@testable import StallCore

@Suite struct LoopRulesTests {
  private static func rules(_ text: String) throws -> LoopRules { try LoopRules(parsing: Array(text.utf8)) }

  @Test func tableOfTheProgramIsSound() throws {
    let rules = try LoopRules(parsing: PackageResources.LoopRules_txt)
    let families = rules.families.map(\.name)
    #expect(Set(families).count == families.count)
    for name in [
      "GLib", "Qt", "libuv", "libevent", "libev", "CFRunLoop", "Foundation RunLoop", "libdispatch", "uvloop",
      "SDL", "mio", "tokio", "Netty", "JVM", "Go", "nginx", "Redis", "PostgreSQL", "X client (Xlib/xcb)",
    ] {
      #expect(families.contains(name), "\(name)")
    }
    #expect(rules.families.filter(\.mayPing).map(\.name) == ["libuv", "GLib", "libdispatch"])
  }

  @Test(arguments: [
    ("loop a_loop", 1, "a rule before the first [family]"),
    ("\n[]", 2, "a family is [NAME]"),
    ("[a family", 1, "a family is [NAME]"),
    ("[x] ping: pipe", 1, "behind a [family] stands nothing, or ping: eventfd"),
    ("[x]\nloops f", 2, "loops is no meaning; loop, part, dispatch, nested, work or call?"),
    ("[x]\nloop", 2, "a rule is MEANING FUNCTION, or MEANING FUNCTION in MODULE"),
    ("[x]\nloop f of m", 2, "a rule is MEANING FUNCTION, or MEANING FUNCTION in MODULE"),
    ("[x]\nloop f in m n", 2, "a rule is MEANING FUNCTION, or MEANING FUNCTION in MODULE"),
    ("[x]\n\u{1b}[31m f", 2, "\\x1b[31m is no meaning; loop, part, dispatch, nested, work or call?"),
  ])
  func lineThatIsNotUnderstoodIsNamed(_ table: String, _ line: Int, _ text: String) {
    #expect(throws: LoopRulesProblem(line: line, text: text)) { try Self.rules(table) }
  }

  @Test func emptyTableKnowsNothing() throws {
    let empty = try Self.rules("")
    #expect(empty.isEmpty)
    let reading = empty.reading(of: [Self.frame("libc.so.6", "epoll_wait"), Self.frame("node", "uv_run")])
    #expect(reading.meaning == .unknown && reading.loopFamily == nil && reading.nesting == 0)
  }

  @Test(arguments: [
    ("abc", "abc", true), ("abc", "abcd", false), ("a*", "a", true), ("*c", "abc", true), ("*", "", true),
    ("a*b*c", "aXbbYc", true), ("a*b*c", "aXc", false), ("*x*", "axb", true), ("", "a", false),
  ])
  func starStandsForAnything(_ pattern: String, _ name: String, _ matches: Bool) {
    #expect(NamePattern(pattern.utf8).matches(Array(name.utf8)) == matches)
  }

  private static func frame(_ module: String, _ symbol: String?, raw: String? = nil) -> Frame {
    var frame = Frame(programCounter: 0x1000, trust: .exact)
    frame.stackPointer = 0x7000
    frame.module = ModuleReference(path: ByteString("/usr/lib/" + module), buildID: nil)
    frame.symbol = symbol.map { ByteString($0) }
    frame.rawSymbol = raw.map { ByteString($0) }
    return frame
  }

  private static func read(_ frames: [(module: String, symbol: String?)]) -> StackReading {
    LoopRules.builtIn.reading(of: frames.map { frame($0.module, $0.symbol) })
  }

  @Test func waitOfTheLoopItselfIsTheLoops() {
    let reading = Self.read([
      ("libc.so.6", "epoll_pwait"), ("libuv.so.1", "uv__io_poll"), ("libuv.so.1", "uv_run"), ("app", "main"),
    ])
    #expect(reading.meaning == .loop && reading.loopFamily == "libuv" && reading.mayPing)
    #expect(reading.nesting == 1)
  }

  @Test func waitInACallbackIsWork() {
    let reading = Self.read([
      ("libc.so.6", "poll"), ("libmine.so", "mine_ask_server"), ("app", "on_click"),
      ("libglib-2.0.so.0", "g_main_context_dispatch"), ("libglib-2.0.so.0", nil),
      ("libglib-2.0.so.0", "g_main_loop_run"), ("app", "main"),
    ])
    #expect(reading.meaning == .work && reading.loopFamily == "GLib")
  }

  /// The pool waits in the same functions as a block that waits for a semaphore.
  @Test("IDLE-05: an idle thread of a pool is at rest, and one whose block waits is at work")
  func poolOfDispatch() {
    let wait: [(module: String, symbol: String?)] = [
      ("libc.so.6", nil), ("libdispatch.so", "_dispatch_sema4_timedwait"),
      ("libdispatch.so", "_dispatch_semaphore_wait_slow"),
    ]
    let pool: [(module: String, symbol: String?)] = [
      ("libdispatch.so", "_dispatch_worker_thread"), ("libc.so.6", nil),
    ]
    let block: [(module: String, symbol: String?)] = [
      ("program", "handler"), ("libdispatch.so", "_dispatch_continuation_pop"),
      ("libdispatch.so", "_dispatch_lane_serial_drain"),
    ]
    #expect(Self.read(wait + pool).meaning == .loop)
    #expect(Self.read(wait + block + pool).meaning == .work)
    #expect(Self.read([(module: "libc.so.6", symbol: "usleep")] + block + pool).meaning == .work)
  }

  @Test("IDLE-06: a dialog's wait is the loop's, nested 2 deep")
  func waitOfADialogIsTheLoops() {
    let reading = Self.read([
      ("libc.so.6", "poll"), ("libglib-2.0.so.0", nil), ("libglib-2.0.so.0", "g_main_loop_run"),
      ("libgtk-3.so.0", "gtk_dialog_run"), ("app", "on_click"),
      ("libglib-2.0.so.0", "g_main_context_dispatch"), ("libglib-2.0.so.0", nil),
      ("libglib-2.0.so.0", "g_main_loop_run"), ("libgtk-3.so.0", "gtk_main"), ("app", "main"),
    ])
    #expect(reading.meaning == .loop && reading.nesting == 2)
  }

  /// A toolkit that runs its loop by that of a library is one loop, and called by the toolkit's name.
  @Test func toolkitOnALibrarysLoopIsOneLoop() {
    let reading = Self.read([
      ("libc.so.6", "poll"), ("libglib-2.0.so.0", nil), ("libglib-2.0.so.0", "g_main_context_iteration"),
      ("libQt5Core.so.5", "QEventDispatcherGlib::processEvents(QFlags<QEventLoop::ProcessEventsFlag>)"),
      ("libQt5Core.so.5", "QEventLoop::exec(QFlags<QEventLoop::ProcessEventsFlag>)"),
      ("libQt5Core.so.5", "QCoreApplication::exec()"), ("app", "main"),
    ])
    #expect(reading.meaning == .loop && reading.loopFamily == "Qt" && reading.nesting == 1)
    #expect(reading.mayPing)
  }

  /// Whatever runs below it: some look-ups run a loop of their own.
  @Test func workIsWorkAlsoWithALoopInIt() {
    let reading = Self.read([
      ("libc.so.6", "poll"), ("libglib-2.0.so.0", nil), ("libglib-2.0.so.0", "g_main_loop_run"),
      ("libgio-2.0.so.0", "g_dbus_connection_call_sync"), ("app", "on_click"),
      ("libglib-2.0.so.0", "g_main_context_dispatch"), ("libglib-2.0.so.0", "g_main_loop_run"),
    ])
    #expect(reading.meaning == .work && reading.workFamily == "a network request")
  }

  @Test func namelessFramesOfAnotherModuleAreNotTheLoops() {
    let reading = Self.read([
      ("libc.so.6", "open"), ("app", nil), ("libevent-2.1.so.7", nil),
      ("libevent-2.1.so.7", "event_base_loop"),
    ])
    #expect(reading.meaning == .unknown && reading.loopFamily == "libevent")
  }

  @Test func copiesOfAFunctionAreTheFunction() {
    let reading = Self.read([("libc.so.6", "epoll_wait"), ("redis-server", "aeProcessEvents.part.0")])
    #expect(reading.meaning == .loop && reading.loopFamily == "Redis")
  }

  @Test func moduleOfARuleHasToFit() throws {
    let rules = try Self.rules("[x]\nloop run in lib*.so")
    #expect(rules.reading(of: [Self.frame("libx.so", "run")]).meaning == .loop)
    #expect(rules.reading(of: [Self.frame("app", "run")]).meaning == .unknown)
  }

  @Test func waitReturnsToWhoeverMadeIt() throws {
    var frames = [
      Self.frame("libc.so.6", "epoll_wait"), Self.frame("libc.so.6", nil), Self.frame("app", "run"),
    ]
    frames[2].programCounter = 0x4242
    frames[2].stackPointer = 0x7ff0
    for rules in [LoopRules.builtIn, .none, try Self.rules("[x]\nloop run in lib*.so")] {
      let place = rules.reading(of: frames).returnsTo
      #expect(place == WaitReturn(programCounter: 0x4242, stackPointer: 0x7ff0))
    }
    frames = [Self.frame("go-program", "internal/runtime/syscall.Syscall6")]
    #expect(LoopRules.builtIn.reading(of: frames).returnsTo?.programCounter == 0x1000)
    #expect(LoopRules.builtIn.reading(of: [Self.frame("libc.so.6", "poll")]).returnsTo == nil)
  }

  @Test("stacks of real programs mean what they mean", arguments: RecordedStack.all)
  func recordedStackIsUnderstood(_ recorded: RecordedStack) {
    let reading = LoopRules.builtIn.reading(of: recorded.frames)
    #expect("\(reading.meaning)" == recorded.meaning)
    #expect(reading.loopFamily ?? "" == recorded.family)
  }
}
