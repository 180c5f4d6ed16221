// `--stacks`: the threads that are copied beside the stalled one, and what the report thread keeps of them.

internal import CommandLineOptions
internal import Diagnosis
internal import Linux
internal import Stacks
internal import StallCore

/// Which capture of which episode a stack was taken along with.
struct CompanionKey: Sendable, Equatable {
  var episode: Int
  var round: Int
}

struct CompanionStacks {
  private let choice: StackChoice
  private let process: Int32
  private var round = 0

  private static let most = 64
  private static let mostSearched = 1024

  init(_ choice: StackChoice, process: Int32) {
    self.choice = choice
    self.process = process
  }

  /// Copies them, the holder of the lock first, then what runs or waits for a CPU now, then the rest. Not while the
  /// helper is in trouble: one more question to it costs time.
  mutating func take(
    beside stalled: CapturedThread, episode: Int, _ camera: ThreadCamera,
    each: (CompanionKey, CapturedThread) -> Void
  ) {
    guard choice != .stalled, case .success = stalled.result else { return }
    round += 1
    camera.beginDump()
    defer { camera.endDump() }
    for (thread, role) in threads(beside: stalled).prefix(Self.most) {
      let captured = camera.capture(thread, role: role, isDump: true)
      if case .failure(.gone) = captured.result { continue }
      each(CompanionKey(episode: episode, round: round), captured)
    }
  }

  private func threads(beside stalled: CapturedThread) -> [(Int32, ThreadRole)] {
    let holders = holders(stalled)
    let isJoined = if case .threadEnd(_) = stalled.evidence?.lock { true } else { false }
    let others = ((try? ThreadList.threads(of: process)) ?? []).filter {
      $0 != stalled.threadID && !holders.contains($0)
    }
    let running = others.prefix(Self.mostSearched).filter(isRunning)
    let rest = choice == .all ? others.filter { !running.contains($0) } : []
    let first = holders.map { ($0, isJoined ? ThreadRole.worker : .lockOwner) }
    return first + (running + rest).map { ($0, $0 == process ? .main : .worker) }
  }

  /// Of the lock, and of those that the holders wait for themselves.
  private func holders(_ stalled: CapturedThread) -> [Int32] {
    guard let evidence = stalled.evidence else { return [] }
    let holders = evidence.chain?.holders.map(\.id) ?? evidence.holder.map { [$0.id] } ?? []
    return holders.filter { $0 != stalled.threadID }
  }

  private func isRunning(_ thread: Int32) -> Bool {
    guard let text = try? readPseudoFile("/proc/\(process)/task/\(thread)/stat", limit: 4096) else {
      return false
    }
    return ThreadStat(text.span)?.state == ThreadState.running.rawValue
  }
}

/// The newest of one episode.
struct CompanionList {
  private var key: CompanionKey?
  private var stacks: [Stack] = []

  mutating func add(_ stack: Stack, _ key: CompanionKey) {
    if key != self.key { stacks = [] }
    self.key = key
    stacks.append(stack)
  }

  func stacks(of episode: Int) -> [Stack] { key?.episode == episode ? stacks : [] }
}
