// Names what running threads did in the kernel. The list of names is read on a thread of its own: no record waits for it longer
// than for other names.

internal import Linux
internal import StallCore
internal import Synchronization

/// Reads nothing until a record tells of a thread in the kernel.
final class KernelNames: Sendable {
  fileprivate struct State {
    var symbols: KernelSymbols?
    var readAt = Instant(nanoseconds: 0)
    var isReading = false
    var refusals = RetrySpacing()
    var refusal: Errno?
  }

  private let state = Mutex(State())
  /// Raised when the list was read.
  private let news: WakeUp

  /// Modules come and go: for what lies in them the list is read again.
  private static let timeOfModules: Duration = .seconds(60)

  init() throws(Errno) { news = try WakeUp() }

  /// The same stacks, with the kernel's part if that can be named by then.
  func name(_ stacks: [Stack], until end: Instant) -> [Stack] {
    let chains = stacks.map(\.kernelPart.addresses).filter { !$0.isEmpty }
    if chains.isEmpty { return stacks }
    while isReading(for: chains), wait(until: end) {}
    return state.withLock { state in
      guard let symbols = state.symbols else { return stacks }
      return stacks.map { stack in
        guard case .addresses(let chain) = stack.kernelPart else { return stack }
        var stack = stack
        stack.kernelPart = .frames(KernelFrame.frames(of: chain, function: symbols.frame(at:)))
        return stack
      }
    }
  }

  /// Begins if something is missing.
  private func isReading(for chains: [[UInt64]]) -> Bool {
    state.withLock { state in
      let now = Instant.now
      if state.isReading { return true }
      guard state.needsReading(for: chains, now, Self.timeOfModules), state.refusals.isDue(at: now) else {
        return false
      }
      state.isReading = (try? startThread(name: "kernel-names") { self.read() }) != nil
      return state.isReading
    }
  }

  /// False: it is too late.
  private func wait(until end: Instant) -> Bool {
    var poll = PollSet([news.rawValue])
    try? poll.wait(untilNanoseconds: end.nanoseconds)
    news.acknowledge()
    return poll.isReady(0)
  }

  private func read() {
    let result: Result<KernelSymbols, Errno>
    do throws(Errno) { result = .success(try KernelSymbols.read()) } catch { result = .failure(error) }
    state.withLock { state in
      state.isReading = false
      switch result {
      case .success(let symbols):
        (state.symbols, state.readAt, state.refusals) = (symbols, .now, RetrySpacing())
      case .failure(let error):
        if state.refusals.isFirst { state.refusal = error }
        state.refusals.refuse(at: .now)
      }
    }
    news.raise()
  }

  /// Why there are no names, once.
  func takeRemark() -> ByteString? {
    state.withLock { state in
      state.refusal.take().map { error in
        let why = error == .accessDenied ? "needs CAP_SYSLOG, and kernel.kptr_restrict below 2" : error.text
        return ByteString(
          "what running threads do in the kernel has no names: /proc/kallsyms shows no addresses (\(why))")
      }
    }
  }
}

extension KernelNames.State {
  /// The kernel's own functions stay where they are.
  fileprivate func needsReading(for chains: [[UInt64]], _ now: Instant, _ timeOfModules: Duration) -> Bool {
    guard let symbols else { return true }
    if now - readAt < timeOfModules { return false }
    return chains.joined().contains { address in symbols.symbol(at: address).map { $0.module != nil } ?? true
    }
  }
}

extension KernelSymbols {
  fileprivate func frame(at address: UInt64) -> KernelFrame? {
    symbol(at: address).map {
      KernelFrame(
        symbol: ByteString($0.name), symbolOffset: address - $0.start,
        module: $0.module.map { ByteString($0) })
    }
  }
}
