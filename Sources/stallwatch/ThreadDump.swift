// Every thread of a process, as many at once as can be copied together.

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
  private(set) var omitted = 0
  private var missing: [(failure: CaptureFailure, threads: Int)] = []
  private let only: ThreadChoice
  private let pattern: ThreadNamePattern?

  init(process: Int32, only: ThreadChoice = .all, most: Int) {
    pattern = if case .named(let text) = only { ThreadNamePattern(text) } else { nil }
    self.process = process
    self.only = only
    self.most = most
  }

  var hasThreadsWithoutStack: Bool { !missing.isEmpty }

  /// Lists again until a list brings nothing new, since threads start meanwhile; a process that starts them faster than
  /// they can be copied is given up on after a few lists, and the rest is counted. Threads that end meanwhile are left
  /// out.
  ///
  /// - Parameters:
  ///   - first: a thread that was captured already.
  ///   - parked: threads that the watch has seen in their loop's wait.
  mutating func take(
    _ camera: ThreadCamera, first: CapturedThread? = nil, parked: Set<Int32> = [],
    each: ([CapturedThread]) -> Void
  ) {
    camera.beginDump()
    defer { camera.endDump() }
    var seen: Set<Int32> = []
    if let first, isWanted(first.threadID) {
      hand(out: [first], each)
      seen.insert(first.threadID)
    }
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
      take(new, camera, parked, each)
      lists += threads > 0 ? 1 : 0
    }
    omitted += threads(besides: seen).count
  }

  private mutating func take(
    _ new: [Int32], _ camera: ThreadCamera, _ parked: Set<Int32>, _ each: ([CapturedThread]) -> Void
  ) {
    var rest = new[...]
    while !rest.isEmpty, threads < most {
      let group = rest.prefix(min(CaptureHelper.mostTogether, most - threads))
      rest = rest.dropFirst(group.count)
      let asked = group.map {
        DumpedThread(threadID: $0, role: $0 == process ? .main : .worker, isParked: parked.contains($0))
      }
      hand(out: camera.capture(together: asked), each)
    }
    omitted += rest.count
  }

  private mutating func hand(out captured: [CapturedThread], _ each: ([CapturedThread]) -> Void) {
    var there: [CapturedThread] = []
    for thread in captured {
      if case .failure(let failure) = thread.result {
        if failure == .gone { continue }
        count(failure)
      }
      there.append(thread)
    }
    threads += there.count
    if !there.isEmpty { each(there) }
  }

  private mutating func count(_ failure: CaptureFailure) {
    if let index = missing.firstIndex(where: { $0.failure == failure }) {
      missing[index].threads += 1
    } else {
      missing.append((failure, 1))
    }
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
      threads: threads,
      missing: missing.map { MissingStacks(reason: Self.reason($0.failure), threads: $0.threads) },
      omitted: omitted, took: took, targetStopped: stopped)
  }

  private static func reason(_ failure: CaptureFailure) -> String {
    let sentence = "the thread \(failure.text)"
    guard case .runningUnsampled(let error) = failure, error.meansNotAllowed else { return sentence }
    return "\(sentence): \(Refusal.ofPerfEvent(error).why)"
  }
}
