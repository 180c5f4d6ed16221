// How often a process was held back by the CPU quota of its cgroup.

/// The `cpu.stat` of the group that the process is in, and of those above it: a quota holds for all below, and only the
/// group that has one counts. Version 2 of cgroups(7) has it in the unified tree, version 1 in that of the controller `cpu`.
package struct CgroupQuota: ~Copyable, Sendable {
  private let levels: [FileDescriptorBox]

  /// Arrays hold no values that cannot be copied.
  private final class FileDescriptorBox: Sendable {
    let file: PseudoFile
    init(_ path: String) throws(Errno) { file = try PseudoFile(path) }
  }

  /// Deeper trees are not walked to their root.
  private static let mostLevels = 8

  /// The groups that the process is in now. Fails if that cannot be read.
  package init(process: Int32) throws(Errno) {
    let text = try readPseudoFile("/proc/\(process)/cgroup")
    var found: [FileDescriptorBox] = []
    if let path = Self.controllerPath(in: text) {
      found = Self.levels(path, ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"])
    }
    if found.isEmpty, let path = CgroupFreezer.unifiedPath(in: text) {
      found = Self.levels(path, ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"])
    }
    levels = found
  }

  private static func levels(_ path: String, _ mounts: [String]) -> [FileDescriptorBox] {
    var found: [FileDescriptorBox] = []
    var rest = path[...]
    for _ in 0..<mostLevels where rest.count > 1 {
      for mount in mounts {
        guard let file = try? FileDescriptorBox("\(mount)\(rest)/cpu.stat") else { continue }
        found.append(file)
        break
      }
      rest = rest[..<(rest.lastIndex(of: "/") ?? rest.startIndex)]
    }
    return found
  }

  /// Times and nanoseconds of the level that was held back longest; nil where there is no quota to count.
  package func throttled(_ buffer: inout [UInt8]) -> (times: UInt64, nanoseconds: UInt64)? {
    var most: (times: UInt64, nanoseconds: UInt64)?
    for level in levels {
      guard let count = try? level.file.read(into: &buffer),
        let found = Self.parse(buffer.span.extracting(first: count)),
        found.nanoseconds >= most?.nanoseconds ?? 0
      else { continue }
      most = found
    }
    return most
  }

  /// `nr_throttled`, and `throttled_usec` (version 2) or `throttled_time` in nanoseconds (version 1).
  package static func parse(_ text: Span<UInt8>) -> (times: UInt64, nanoseconds: UInt64)? {
    guard let times = number(text, "nr_throttled ") else { return nil }
    if let nanoseconds = number(text, "throttled_time ") { return (times, nanoseconds) }
    guard let microseconds = number(text, "throttled_usec ") else { return nil }
    return (times, microseconds.multipliedReportingOverflow(by: 1_000).partialValue)
  }

  private static func number(_ text: Span<UInt8>, _ key: StaticString) -> UInt64? {
    guard var position = text.endOfKey(key, from: 0) else { return nil }
    return text.decimal(at: &position)
  }

  /// Lines are `hierarchy:controllers:path`.
  package static func controllerPath(in text: [UInt8]) -> String? {
    CgroupFreezer.path(in: text) { controllers in
      controllers.split(separator: UInt8(ascii: ",")).contains { $0.elementsEqual("cpu".utf8) }
    }
  }
}
