// Which handler a stack belongs to, and what the stacks of a busy loop add up to.

import StallCore
import Testing

/// Outermost function first, each as `file!name`.
private func stack(_ path: String, end: WalkEnd = .root) -> Stack {
  let frames = path.split(separator: " ").reversed().map { word in
    let parts = word.split(separator: "!")
    var frame = Frame(programCounter: 0x1000, trust: .exact)
    frame.module = ModuleReference(path: ByteString("/usr/lib/" + parts[0]), buildID: nil)
    frame.symbol = parts.count > 1 ? ByteString(String(parts[1])) : nil
    frame.moduleOffset = 0x42
    return frame
  }
  return Stack(
    threadID: 1, threadName: "viewer", role: .main, way: .ptrace, stoppedFor: .zero, end: end, frames: frames)
}

private func shares(_ stacks: [String], loop: [FunctionIdentity] = []) -> HandlerShares {
  var shares = HandlerShares()
  shares.knownLoop = loop
  for path in stacks { shares.add(stack(path), weight: .milliseconds(100)) }
  return shares
}

/// `name milliseconds`, most first.
private func spoken(_ shares: HandlerShares) -> [String] {
  shares.shares.map { "\($0.handler.symbol?.escaped ?? "?") \(Int($0.weight.milliseconds))" }
}

private let pollLoop = FunctionIdentity(symbol: "run_loop", module: "app")

@Suite struct HandlerSharesTests {
  @Test func theHandlerIsWhatTheLoopCalled() {
    let shares = shares(
      ["app!main app!run_loop app!on_timer app!sum", "app!main app!run_loop app!on_read libc!read"]
        + ["app!main app!run_loop app!on_timer app!sort"], loop: [pollLoop])
    #expect(spoken(shares) == ["on_timer 200", "on_read 100"])
    #expect(shares.loop == FunctionIdentity(stack("app!run_loop").frames[0]))
    #expect(shares.weight == .milliseconds(300) && shares.samples == 3)
  }

  @Test func aLoopThatIsNotKnownIsWhatAllStacksHaveInCommon() {
    let shares = shares([
      "app!main app!run app!on_timer app!sum", "app!main app!run app!on_read",
      "app!main app!run app!on_timer",
    ])
    #expect(spoken(shares) == ["on_timer 200", "on_read 100"])
    #expect(shares.loop?.symbol == "run")
  }

  /// Of one stack alone nobody can tell which part of it is the loop.
  @Test func oneStackHasNoHandlerUnlessTheLoopIsKnown() {
    let path = "app!main app!run_loop app!on_timer"
    #expect(shares([path, path]).shares.isEmpty)
    #expect(shares([path, path]).loop == nil)
    #expect(spoken(shares([path, path], loop: [pollLoop])) == ["on_timer 200"])
  }

  @Test("The loop of a library goes through more of that library")
  func aLibrarysOwnFunctionsAreNoHandlers() {
    let loop = FunctionIdentity(symbol: "g_main_context_iterate", module: nil)
    let head = "app!main glib!g_main_loop_run glib!g_main_context_iterate"
    let shares = shares(
      [
        "\(head) glib!g_main_dispatch glib!g_timeout_dispatch app!tick app!sum",
        "\(head) glib!g_main_dispatch glib!g_closure_invoke",
      ], loop: [loop])
    #expect(Set(spoken(shares)) == ["tick 100", "g_main_dispatch 100"])
  }

  @Test func theRulesKnowTheLoopsOfLibraries() throws {
    let rules = try LoopRules(
      parsing: Array("[uv]\nloop uv_run\npart uv__io_poll\ndispatch uv__run_timers".utf8))
    var shares = HandlerShares()
    for path in [
      "node!main node!uv_run node!uv__io_poll node!on_read",
      "node!main node!uv_run node!uv__run_timers node!tick",
    ] {
      shares.add(stack(path), weight: .milliseconds(100), rules)
    }
    #expect(spoken(shares) == ["on_read 100", "tick 100"])
    #expect(shares.loop == nil)
  }

  @Test func ofNestedLoopsTheInnermostCounts() {
    let shares = shares(
      ["app!main app!run_loop app!on_open app!run_loop app!on_key app!draw"], loop: [pollLoop])
    #expect(spoken(shares) == ["on_key 100"])
  }

  @Test func timeInTheLoopAndStacksWithoutRootBelongToNobody() {
    var shares = shares(["app!main app!run_loop", "app!main app!run_loop app!on_read"], loop: [pollLoop])
    shares.add(stack("app!run_loop app!on_timer", end: .missingBytes), weight: .milliseconds(50))
    shares.addUnknown(weight: .milliseconds(50))
    #expect(spoken(shares) == ["on_read 100"])
    #expect(shares.weight == .milliseconds(300) && shares.samples == 4)
  }

  @Test func namesOfOtherFilesAreNotTheLoop() {
    let path = "other!main other!run_loop other!on_read"
    #expect(shares([path], loop: [pollLoop]).shares.isEmpty)
    #expect(
      spoken(shares([path], loop: [FunctionIdentity(symbol: "run_loop", module: nil)])) == ["on_read 100"])
  }

  @Test func functionsWithoutNamesAreHandlersToo() throws {
    let shares = shares(["app!main app!run_loop plugin"], loop: [pollLoop])
    let handler = try #require(shares.shares.first?.handler)
    #expect(handler.symbol == nil && handler.offset == 0x42)
  }

  @Test func onlySoManyStacksAreKept() {
    let shares = shares((0..<200).map { "app!main app!run_loop app!on\($0)" }, loop: [pollLoop])
    #expect(shares.shares.count == 64)
    #expect(shares.weight == .seconds(20))
  }
}
