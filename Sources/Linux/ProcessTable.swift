// The processes of the machine, as far as `/proc` shows them.

internal import CLinux
internal import Glibc

/// One process, as its `stat` shows it.
package struct ProcessEntry: Sendable {
  package let id: Int32
  /// Of its first thread: at most 15 bytes.
  package let name: [UInt8]
  package let stat: ThreadStat

  /// Nil if there is none.
  package init?(_ id: Int32) {
    guard let text = try? readPseudoFile("/proc/\(id)/stat", limit: 4096), let stat = ThreadStat(text.span)
    else { return nil }
    self.id = id
    self.stat = stat
    name = Array(text[stat.name])
  }

  /// Nothing is left of it but a status for its parent.
  package var hasEnded: Bool { stat.hasEnded && stat.threads <= 1 }

  /// The base name of the file it runs; nil where that may not be known.
  package var executableName: [UInt8]? {
    guard var path = try? readLink("/proc/\(ThreadList.witness(of: id))/exe") else { return nil }
    let deleted = Array(" (deleted)".utf8)
    if path.count > deleted.count, path.suffix(deleted.count).elementsEqual(deleted) {
      path.removeLast(deleted.count)
    }
    return path.lastIndex(of: UInt8(ascii: "/")).map { Array(path[($0 + 1)...]) }
  }

  /// The user it runs as.
  package var userID: UInt32? { (try? ProcessStatus(path: "/proc/\(id)/status"))?.userID }

  /// Nanoseconds since 1970. The kernel counts the ticks on the boot clock as we see it, also in a time namespace.
  package var startedAt: Int64 {
    let ticks = Int64(max(1, sysconf(Int32(_SC_CLK_TCK))))
    let sinceBoot = Int64(clamping: stat.startTicks) / ticks * 1_000_000_000
    return Clock.wallNanoseconds - Clock.bootNanoseconds + sinceBoot
  }
}

package enum ProcessTable {
  /// In the order of their ids. Those that end meanwhile are left out.
  package static var all: [ProcessEntry] { ids.compactMap { ProcessEntry($0) } }

  private static var ids: [Int32] {
    guard let directory = unsafe opendir("/proc") else { return [] }
    defer { unsafe closedir(directory) }
    var ids: [Int32] = []
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if let id = Int32(name) { ids.append(id) }
    }
    return ids
  }

  /// Who becomes the parent of our descendants when theirs ends: process 1, or who declared himself for that, prctl(2).
  /// `orphan` is the process by which that was found out, and can still be listed.
  package static func findAdopterOfOrphans() -> (adopter: Int32, orphan: Int32) {
    var orphan: Int32 = 0
    let adopter = unsafe clinux_adopter_of_orphans(&orphan)
    return (adopter, orphan)
  }

  /// Changes whenever a process or thread is started: the id that was given last, proc_loadavg(5).
  package static var lastID: [UInt8]? {
    guard let text = try? readPseudoFile("/proc/loadavg"), let blank = text.lastIndex(of: UInt8(ascii: " "))
    else {
      return nil
    }
    return Array(text[blank...])
  }
}
