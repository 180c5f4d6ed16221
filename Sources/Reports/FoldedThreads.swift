// The threads of a dump as text, those with equal stacks together.

internal import StallCore

/// Holds the text of a dump back until whoever writes it knows that no more threads come, so that a stack is read once and
/// not 312 times. What is held is bounded: a dump of many different stacks comes in several parts.
struct FoldedThreads: Sendable {
  fileprivate struct Group {
    /// The first few.
    var threads: [ThreadRecord]
    var count: Int
    let lines: [String]
  }

  private var groups: [Group] = []
  private var places: [StackShape: Int] = [:]
  private var frames = 0

  private static let mostFrames = 16_384
  private static let mostThreadsNamed = 4

  /// False: there is none with such a stack yet.
  mutating func add(_ record: ThreadDumpRecord) -> Bool {
    guard let place = places[StackShape(record)] else { return false }
    if groups[place].threads.count < Self.mostThreadsNamed { groups[place].threads.append(record.thread) }
    groups[place].count += 1
    return true
  }

  /// The first thread with its stack; `lines` is the stack as text.
  mutating func begin(with record: ThreadDumpRecord, _ lines: [String]) {
    let shape = StackShape(record)
    places[shape] = groups.count
    groups.append(Group(threads: [record.thread], count: 1, lines: lines))
    frames += shape.frames.count + 1
  }

  var isFull: Bool { frames >= Self.mostFrames }

  /// What is held, in the order in which the stacks came.
  mutating func take(_ style: TextStyle) -> [String] {
    defer { self = FoldedThreads() }
    return groups.flatMap { [style.palette.strong($0.heading)] + $0.lines }
  }
}

extension FoldedThreads.Group {
  fileprivate var heading: String {
    if count == 1 { return threads[0].heading }
    let named = threads.map { "\($0.threadID) \"\($0.name.text)\"" + ($0.role == .main ? " (main)" : "") }
    let rest = count > named.count ? ", …" : ""
    return "\(grouped(count)) threads like this: \(named.joined(separator: ", "))\(rest)"
  }
}

extension ThreadRecord {
  /// `thread 4242 "viewer", main`
  var heading: String { "thread \(threadID) \"\(name.text)\"" + (role == .main ? ", main" : "") }
}

/// All that makes two stacks one for a reader. How each was had, and for how long its thread was held, is left out.
private struct StackShape: Hashable {
  let frames: [FrameRecord]
  private let end: WalkEnd?
  private let missing: EscapedText?
  /// Shown where there is no other stack.
  private let inKernel: [String]
  private let isApproximate: Bool
  private let isCompleted: Bool

  init(_ record: ThreadDumpRecord) {
    let stack = record.stacks.first
    frames = stack?.frames ?? []
    (end, missing) = (stack?.end, stack?.missing)
    inKernel = frames.isEmpty ? stack?.kernelFrames.map(\.symbol.text) ?? [] : []
    (isApproximate, isCompleted) = (stack?.isApproximate ?? false, stack?.isCompleted ?? false)
  }

  /// Equal addresses have equal names, but for what was loaded in between.
  func hash(into hasher: inout Hasher) {
    for frame in frames { hasher.combine(frame.programCounter) }
    hasher.combine(missing)
  }
}
