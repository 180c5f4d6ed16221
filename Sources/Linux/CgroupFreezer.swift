// Whether a process is frozen by its cgroup, as `docker pause` does it.

/// The freezers of one process, from cgroups(7): version 2 tells in `cgroup.events`, version 1 in `freezer.state`. Both
/// tell of the parents too. The mounts are where systemd and every container runtime put them.
package struct CgroupFreezer: ~Copyable, Sendable {
  private let events: PseudoFile?
  private let state: PseudoFile?

  /// The groups that the process is in now. Fails if that cannot be read.
  package init(process: Int32) throws(Errno) {
    let text = try readPseudoFile("/proc/\(process)/cgroup")
    events = Self.unifiedPath(in: text).flatMap { path in
      (try? PseudoFile("/sys/fs/cgroup\(path)/cgroup.events"))
        ?? (try? PseudoFile("/sys/fs/cgroup/unified\(path)/cgroup.events"))
    }
    state = Self.freezerPath(in: text).flatMap { path in
      try? PseudoFile("/sys/fs/cgroup/freezer\(path)/freezer.state")
    }
  }

  /// False also where nothing can be read.
  package func isFrozen(_ buffer: inout [UInt8]) -> Bool {
    if let count = try? events?.read(into: &buffer),
      buffer.span.extracting(first: count).endOfKey("frozen 1", from: 0) != nil
    {
      return true
    }
    guard let count = try? state?.read(into: &buffer) else { return false }
    return buffer.span.extracting(first: count).matches("FROZEN", at: 0)
  }

  /// Lines are `hierarchy:controllers:path`; version 2 has no controllers there.
  package static func unifiedPath(in text: [UInt8]) -> String? { path(in: text) { $0.isEmpty } }

  package static func freezerPath(in text: [UInt8]) -> String? {
    path(in: text) { $0.elementsEqual("freezer".utf8) }
  }

  static func path(in text: [UInt8], where isWanted: (ArraySlice<UInt8>) -> Bool) -> String? {
    for line in text.split(separator: UInt8(ascii: "\n")) {
      let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3, isWanted(parts[1]) else { continue }
      return String(decoding: parts[2], as: UTF8.self)
    }
    return nil
  }
}
