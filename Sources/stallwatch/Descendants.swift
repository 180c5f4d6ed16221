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

  /// Those that were started since and bear its mark: its session or process group, or its name and a parent that has
  /// adopted it. What has shed all of these cannot be told from a stranger.
  func living() -> [OtherProcess] {
    let adopters = Self.adopters
    return ProcessTable.all.filter { isDescendant($0, adopters) }.prefix(Self.most).map {
      OtherProcess(id: $0.id, name: ByteString($0.name))
    }
  }

  private func isDescendant(_ entry: ProcessEntry, _ adopters: Set<Int32>) -> Bool {
    guard entry.id != program, entry.stat.startTicks >= startTicks, entry.stat.parent != getpid(),
      !entry.hasEnded
    else { return false }
    if entry.stat.session == program || entry.stat.processGroup == program { return true }
    // A pipeline has several programs in one group, whose parent is the shell, which is ours too.
    if entry.stat.processGroup == group { return entry.stat.parent == 1 || entry.stat.parent != getppid() }
    return adopters.contains(entry.stat.parent) && ProcessSearch(name: name).matches(entry)
  }

  /// Orphans go to the nearest ancestor that has declared itself for that, or to process 1: always one of ours.
  private static var adopters: Set<Int32> {
    var ids: Set<Int32> = [1]
    var id = getppid()
    while id > 1, ids.insert(id).inserted, let entry = ProcessEntry(id) { id = entry.stat.parent }
    return ids
  }
}
