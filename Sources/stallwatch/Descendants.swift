// The processes that a program has left behind when it ended.

internal import Glibc
internal import Linux
internal import Reports
internal import StallCore

/// Made while the program runs; asked once it has ended, when its children have a new parent.
struct Descendants {
  private let program: Int32
  private let group: Int32
  private let startTicks: UInt64
  private let name: String

  private static let most = 16

  /// Nil if the program is gone already and nothing is known of it.
  init?(of program: Int32, name: String) {
    guard let entry = ProcessEntry(program) else { return nil }
    self.program = program
    self.name = name
    (group, startTicks) = (entry.stat.processGroup, entry.stat.startTicks)
  }

  /// Those that were started since and bear its mark: its own session or process group; or, for orphans, ours or its
  /// name. What has shed all of these cannot be told from a stranger.
  func living() -> [OtherProcess] {
    let (adopter, orphan) = ProcessTable.findAdopterOfOrphans()
    return ProcessTable.all.filter { $0.id != orphan && isDescendant($0, adopter) }.prefix(Self.most).map {
      OtherProcess(id: $0.id, name: ByteString($0.name))
    }
  }

  private func isDescendant(_ entry: ProcessEntry, _ adopter: Int32) -> Bool {
    guard entry.id != program, entry.stat.startTicks >= startTicks, entry.stat.parent != getpid(),
      !entry.hasEnded
    else { return false }
    if entry.stat.session == program || entry.stat.processGroup == program { return true }
    guard entry.stat.parent == adopter else { return false }
    // Children of our own parent may be in our group and no orphans: the rest of a pipeline.
    return entry.stat.processGroup == group && adopter != getppid()
      || ProcessSearch(name: name).matches(entry)
  }
}
