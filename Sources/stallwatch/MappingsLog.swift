// The list of mappings that the copies of threads belong to, read again only when it can have changed.

internal import Linux

struct MappingsLog {
  private var kept: (maps: SealedBytes, virtualBytes: UInt64)?
  /// Nil: no dump goes on.
  private var dump: Dump?

  private struct Dump {
    var maps: SealedBytes?
    var triesLeft = mostTries
    var hasNobodyRun = false
  }

  /// Reading more than this takes milliseconds, under a lock that the target needs for its own mappings. Less is read
  /// anew for each capture.
  private static let cheapBytes = 1 << 20
  /// A dump can have ten thousand copies, and each reading that fails takes as long as it may.
  private static let mostTries = 16

  /// All captures until `end` are of one dump, for which one list will do.
  mutating func beginDump() { dump = Dump() }
  mutating func endDump() { dump = nil }

  /// A dump goes on that has no list yet.
  var isWantedByDump: Bool { dump.map { $0.maps == nil } ?? false }

  /// Of the dump that goes on: no thread of the process has run since the one before it. Only another process that shares
  /// its memory can have changed the mappings, and mostly that shows in their size.
  mutating func nobodyHasRun() { dump?.hasNobodyRun = true }

  /// Of the dump that goes on: what was just found to be so still.
  mutating func take(_ found: SealedBytes?) { if isWantedByDump { dump?.maps = found } }

  /// Of a thread's process. A long list is kept while the mappings together stay as large as they were.
  mutating func maps(
    of process: Int32, seenBy thread: Int32, read: () -> SealedBytes?
  ) -> SealedBytes? {
    guard var dump else { return newest(process, thread, read) }
    if dump.maps == nil, dump.triesLeft > 0 {
      dump.triesLeft -= 1
      dump.maps = newest(process, thread, read)
      self.dump = dump
    }
    return dump.maps
  }

  private mutating func newest(
    _ process: Int32, _ thread: Int32, _ read: () -> SealedBytes?
  ) -> SealedBytes? {
    let size = try? MemorySize(process: process, thread: thread).virtualBytes
    let isSure = dump?.hasNobodyRun ?? false
    if let kept, kept.virtualBytes == size, isSure || kept.maps.count > Self.cheapBytes { return kept.maps }
    let maps = read()
    kept = nil
    if let maps, let size { kept = (maps, size) }
    return maps
  }
}
