// The list of mappings that the copies of threads belong to, read again only when it can have changed.

internal import Linux

struct MappingsLog {
  private var kept: (maps: SealedBytes, virtualBytes: UInt64)?
  private var maps: SealedBytes?
  private var isDump = false

  /// Reading more than this takes milliseconds, under a lock that the target needs for its own mappings. Less is read
  /// anew for each capture.
  private static let cheapBytes = 1 << 20

  /// All captures until `end` are of one dump, for which one list will do.
  mutating func beginDump() { (maps, isDump) = (nil, true) }
  mutating func endDump() { (maps, isDump) = (nil, false) }

  /// Of the dump that goes on: what was just found to be so still.
  mutating func take(_ found: SealedBytes?) { if isDump, let found { maps = found } }

  /// A long list is kept while the mappings together stay as large as they were.
  mutating func maps(of process: Int32, read: () -> SealedBytes?) -> SealedBytes? {
    if isDump, let maps { return maps }
    let size = Self.virtualBytes(of: process)
    if let kept, kept.virtualBytes == size { return kept.maps }
    maps = read()
    kept = nil
    if let maps, let size, maps.count > Self.cheapBytes { kept = (maps, size) }
    return maps
  }

  private static func virtualBytes(of process: Int32) -> UInt64? {
    guard let text = try? readPseudoFile("/proc/\(process)/stat") else { return nil }
    return ThreadStat(text.span)?.virtualBytes
  }
}
