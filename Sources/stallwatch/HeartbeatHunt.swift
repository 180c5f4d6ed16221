// Looks for the heartbeat variable on a thread of its own, until it is found; the watch finds the answer in a mailbox.

internal import Analysis
internal import Linux
internal import StallCore
internal import Synchronization

/// Libraries come later, and programs replace each other. It is looked for again when the mappings have changed.
final class HeartbeatHunt: Sendable {
  private struct State {
    /// Of the program that the process runs; an older one's answers are not wanted.
    var generation = 0
    var isOver = false
    var finding: HeartbeatFinding?
  }

  private let name: HeartbeatName
  private let process: Int32
  private let state = Mutex(State())

  private static let shortestDistance: Duration = .milliseconds(250)
  private static let longestDistance: Duration = .seconds(8)

  init(_ name: HeartbeatName, process: Int32) {
    self.name = name
    self.process = process
  }

  /// What there is to find in the program that runs now.
  func begin() {
    let generation = state.withLock { state in
      state.generation += 1
      state.finding = nil
      return state.generation
    }
    // Without a thread there is no answer, which is what the watch goes on with.
    try? startThread(name: "heartbeat") { self.search(generation) }
  }

  func end() { state.withLock { $0.isOver = true } }

  /// The newest answer, once.
  func take() -> HeartbeatFinding? {
    state.withLock { state in
      defer { state.finding = nil }
      return state.finding
    }
  }

  private func search(_ generation: Int) {
    var distance = Self.shortestDistance
    var searchedBytes: UInt64?
    while state.withLock({ $0.generation == generation && !$0.isOver }), let bytes = virtualBytes {
      if bytes != searchedBytes {
        searchedBytes = bytes
        var finder = HeartbeatFinder(process: process)
        let finding = finder.find(name, of: ThreadList.witness(of: process))
        put(finding, of: generation)
        if case .found = finding { return }
      }
      Clock.pause(nanoseconds: Int(distance.nanoseconds))
      distance = min(distance * 2, Self.longestDistance)
    }
  }

  private func put(_ finding: HeartbeatFinding, of generation: Int) {
    state.withLock { if $0.generation == generation { $0.finding = finding } }
  }

  /// Of all mappings together; nil when the process has ended.
  private var virtualBytes: UInt64? {
    let size = try? MemorySize(process: process)
    return size.map(\.virtualBytes).flatMap { $0 > 0 ? $0 : nil }
  }
}
