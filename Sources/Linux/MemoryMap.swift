// The mappings of a process, as `/proc/PID/maps` lists them.

/// The file behind a mapping: device and inode as `maps` prints them. On btrfs and overlayfs the device is not the
/// one that stat(2) shows.
package struct FileIdentity: Hashable, Sendable {
  package var deviceMajor: UInt32
  package var deviceMinor: UInt32
  package var inode: UInt64

  package init(deviceMajor: UInt32, deviceMinor: UInt32, inode: UInt64) {
    self.deviceMajor = deviceMajor
    self.deviceMinor = deviceMinor
    self.inode = inode
  }
}

/// One mapping.
package struct MemoryRegion: Hashable, Sendable {
  package struct Permissions: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    package static let read = Permissions(rawValue: 1)
    package static let write = Permissions(rawValue: 2)
    package static let execute = Permissions(rawValue: 4)
    package static let shared = Permissions(rawValue: 8)
  }

  package var start: UInt64
  /// The first address after it.
  package var end: UInt64
  package var permissions: Permissions
  package var fileOffset: UInt64
  package var identity: FileIdentity
  /// The file's path or a name such as `[heap]`; empty for plain anonymous memory. Any bytes except a newline, which
  /// the kernel prints as `\012`, as it also prints a file really named so. Without ` (deleted)`.
  package var path: [UInt8]
  /// The path ended in ` (deleted)`. A file can also really be named so.
  package var isDeleted: Bool

  package var isExecutable: Bool { permissions.contains(.execute) }
  /// A file lies behind it, though not necessarily one with a path that can be opened.
  package var hasFile: Bool { identity.inode != 0 }
}

/// All mappings, ascending, none overlapping another.
package struct MemoryMap: Sendable {
  package let regions: [MemoryRegion]

  /// Four times the kernel's default limit of 65,530 mappings; what lies beyond is dropped.
  package static let regionLimit = 262_144

  /// Reads the text of `/proc/PID/maps`. Lines that make no sense, or that overlap the one before (the file is
  /// not one moment's picture), are left out; so is a last line without its newline.
  package init(parsing text: [UInt8], limit: Int = regionLimit) {
    var regions: [MemoryRegion] = []
    var rest = text[...]
    while regions.count < limit, let newline = rest.firstIndex(of: UInt8(ascii: "\n")) {
      var line = MapsLine(rest[..<newline])
      rest = rest[(newline + 1)...]
      guard var region = line.region(), region.start >= regions.last?.end ?? 0 else { continue }
      // A file's mappings follow each other, and one copy of its path is enough.
      if let last = regions.last, last.path == region.path { region.path = last.path }
      regions.append(region)
    }
    self.regions = regions
  }

  /// Reads the mappings of a live process or thread. A thread group whose leader has ended shows none; then a living
  /// thread's id does.
  package init(processID: Int32) throws(Errno) {
    self.init(parsing: try FileDescriptor.open("/proc/\(processID)/maps").readAll(limit: 64 << 20))
  }

  package func region(containing address: UInt64) -> MemoryRegion? {
    var low = 0
    var high = regions.count
    while low < high {
      let middle = (low + high) / 2
      if regions[middle].end <= address { low = middle + 1 } else { high = middle }
    }
    guard low < regions.count, regions[low].start <= address else { return nil }
    return regions[low]
  }
}

/// One line: `start-end rwxp offset major:minor inode`, blanks, and the rest is the path, its blanks included
/// (`show_map_vma`, fs/proc/task_mmu.c; proc(5)).
private struct MapsLine {
  private var rest: ArraySlice<UInt8>

  init(_ line: ArraySlice<UInt8>) { rest = line }

  mutating func region() -> MemoryRegion? {
    guard let start = number(radix: 16, until: "-"), let end = number(radix: 16, until: " "), start < end,
      let permissions = permissions(), let offset = number(radix: 16, until: " "),
      let major = number(radix: 16, until: ":"), let minor = number(radix: 16, until: " "),
      let inode = number(radix: 10, until: " "),
      let deviceMajor = UInt32(exactly: major), let deviceMinor = UInt32(exactly: minor)
    else { return nil }
    let (path, isDeleted) = path()
    return MemoryRegion(
      start: start, end: end, permissions: permissions, fileOffset: offset,
      identity: FileIdentity(deviceMajor: deviceMajor, deviceMinor: deviceMinor, inode: inode),
      path: path, isDeleted: isDeleted)
  }

  /// Digits up to the separator, which is taken too; the line's end also ends the last number.
  private mutating func number(radix: UInt64, until separator: Unicode.Scalar) -> UInt64? {
    var value: UInt64 = 0
    var digits = 0
    while let byte = rest.first {
      rest = rest.dropFirst()
      if byte == UInt8(ascii: separator) { break }
      guard let digit = MapsLine.digit(byte), digit < radix else { return nil }
      let (scaled, overflow) = value.multipliedReportingOverflow(by: radix)
      let (sum, carry) = scaled.addingReportingOverflow(digit)
      if overflow || carry { return nil }
      value = sum
      digits += 1
    }
    return digits == 0 ? nil : value
  }

  private static func digit(_ byte: UInt8) -> UInt64? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(byte - UInt8(ascii: "a") + 10)
    default: nil
    }
  }

  private mutating func permissions() -> MemoryRegion.Permissions? {
    guard rest.count >= 5 else { return nil }
    let flags = Array(rest.prefix(5))
    rest = rest.dropFirst(5)
    guard flags[4] == UInt8(ascii: " ") else { return nil }
    var permissions: MemoryRegion.Permissions = []
    if flags[0] == UInt8(ascii: "r") { permissions.insert(.read) }
    if flags[1] == UInt8(ascii: "w") { permissions.insert(.write) }
    if flags[2] == UInt8(ascii: "x") { permissions.insert(.execute) }
    if flags[3] == UInt8(ascii: "s") { permissions.insert(.shared) }
    return permissions
  }

  private mutating func path() -> ([UInt8], isDeleted: Bool) {
    let path = rest.drop { $0 == UInt8(ascii: " ") }
    let suffix = Array(" (deleted)".utf8)
    let isDeleted = path.suffix(suffix.count).elementsEqual(suffix)
    return (Array(isDeleted ? path.dropLast(suffix.count) : path), isDeleted)
  }
}
