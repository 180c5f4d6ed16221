// Every thread of a process, one after the other.

internal import CommandLineOptions
internal import Linux
internal import Observation
internal import Reports
internal import Stacks
internal import StallCore

struct ThreadDump {
  private let process: Int32
  private let most: Int
  private(set) var threads = 0
  private(set) var withoutStack = 0
  private(set) var omitted = 0
  private let only: ThreadChoice
  private let pattern: ThreadNamePattern?

  init(process: Int32, only: ThreadChoice = .all, most: Int) {
    pattern = if case .named(let text) = only { ThreadNamePattern(text) } else { nil }
    self.process = process
    self.only = only
    self.most = most
  }

  /// Lists again until a list brings nothing new, since threads start meanwhile; a process that starts them faster than
  /// they can be copied is given up on after a few lists, and the rest is counted. Threads that end meanwhile are left
  /// out.
  ///
  /// - Parameters:
  ///   - first: a thread that was captured already.
  ///   - parked: threads that the watch has seen in their loop's wait.
  mutating func take(
    _ camera: ThreadCamera, first: CapturedThread? = nil, parked: Set<Int32> = [],
    each: (CapturedThread) -> Void
  ) {
    camera.beginDump()
    defer { camera.endDump() }
    var seen: Set<Int32> = []
    var lists = 0
    var pauses = 0
    while lists < Self.mostLists {
      let new = threads(besides: seen)
      if new.isEmpty {
        // When one of them executes a program, it takes the place and the id of the first one.
        guard threads == 0, pauses < Self.mostPauses, !camera.handle.hasEnded else { return }
        pauses += 1
        seen = []
        Clock.pause(nanoseconds: 1_000_000)
      }
      seen.formUnion(new)
      for thread in new {
        guard threads < most else {
          omitted += 1
          continue
        }
        let captured =
          first.flatMap { $0.threadID == thread ? $0 : nil }
          ?? camera.capture(
            thread, role: thread == process ? .main : .worker, isParked: parked.contains(thread), isDump: true
          )
        if case .failure(.gone) = captured.result { continue }
        if case .failure = captured.result { withoutStack += 1 }
        threads += 1
        each(captured)
      }
      lists += threads > 0 ? 1 : 0
    }
    omitted += threads(besides: seen).count
  }

  private func threads(besides seen: Set<Int32>) -> [Int32] {
    ((try? ThreadList.threads(of: process)) ?? []).filter { !seen.contains($0) && isWanted($0) }
  }

  private func isWanted(_ thread: Int32) -> Bool {
    switch only {
    case .auto, .all: true
    case .main: thread == process
    case .id(let id): thread == id
    case .named: pattern?.matches(ThreadSurvey.name(process, thread).bytes) ?? false
    }
  }

  private static let mostLists = 8
  private static let mostPauses = 200

  func summary(took: Duration, stopped: Duration) -> DumpSummaryRecord {
    DumpSummaryRecord(
      threads: threads, withoutStack: withoutStack, omitted: omitted, took: took, targetStopped: stopped)
  }
}
