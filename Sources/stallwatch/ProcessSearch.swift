// `--name`: which process is meant.

internal import CommandLineOptions
internal import Glibc
internal import Linux
internal import Reports
internal import Stacks
internal import StallCore

struct ProcessSearch {
  private let name: [UInt8]

  /// The kernel keeps this many bytes of a thread's name, prctl(2).
  private static let mostNameBytes = 15
  private static let mostListed = 20

  init(name: String) { self.name = Array(name.utf8) }

  /// All that bear the name, oldest first; never ourselves or what we have started.
  func all() -> [ProcessEntry] {
    let own = getpid()
    return ProcessTable.all.filter { entry in
      entry.id != own && entry.stat.parent != own && !entry.stat.isKernelThread && !entry.hasEnded
        && matches(entry)
    }.sorted { ($0.stat.startTicks, $0.id) < ($1.stat.startTicks, $1.id) }
  }

  /// By the name of its first thread, or by the file it runs. Of a long name the thread has only the beginning; that
  /// counts unless the file tells that another name began so.
  func matches(_ entry: ProcessEntry) -> Bool {
    if entry.name == name { return true }
    let file = entry.executableName
    if file == name { return true }
    guard name.count > Self.mostNameBytes, entry.name.elementsEqual(name.prefix(Self.mostNameBytes)) else {
      return false
    }
    return file.map { !$0.starts(with: entry.name) } ?? true
  }

  /// Exactly one, or why not.
  func only(for command: Command) throws(ProgramFailure) -> Int32 {
    let found = all()
    let spoken = ByteString(name).escaped
    guard let first = found.first else {
      throw ProgramFailure(
        code: .noSuchProcess, text: "there is no process named \(spoken)",
        next: command == .watch ? "`ps -e` lists the names; --wait waits for one" : "`ps -e` lists the names")
    }
    if found.count == 1 { return first.id }
    let list = Self.lines(found)
    throw ProgramFailure(
      code: .wrongUsage,
      text: "\(found.count) processes are named \(spoken)\n" + list.joined(separator: "\n"),
      next: "stallwatch \(command == .watch ? "" : "\(command.rawValue) ")--pid \(first.id)")
  }

  /// Pid, user, start and command. Commands are read through a helper, because the target can make that block.
  private static func lines(_ entries: [ProcessEntry]) -> [String] {
    var helper = CaptureHelper()
    let rows = entries.prefix(Self.mostListed).map { entry in
      let time = CivilTime(local: entry.startedAt / 1_000_000_000)
      return [
        "\(entry.id)", entry.userID.map(UserAccount.name) ?? "?", "\(time.date) \(time.clock)",
        (helper.arguments(of: entry.id) ?? []).map(\.escaped).joined(separator: " "),
      ]
    }
    let widths = (0..<3).map { column in rows.map(\.[column].count).max() ?? 0 }
    let lines = rows.map { row in
      "  " + row.enumerated().map { $0 < 3 ? $1.padded(to: widths[$0]) : $1 }.joined(separator: "  ")
    }
    return lines
      + (entries.count > Self.mostListed ? ["  … and \(entries.count - Self.mostListed) more"] : [])
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }
}
