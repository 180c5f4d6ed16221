// Opening files whose names or places come from a target: what it has mapped, its debug information, its list of
// generated functions.

internal import CLinux
internal import Glibc

/// Opens files that belong to a target. Every function can block where a filesystem or the target's memory does not
/// answer. `/proc` shows nothing of a first thread that has ended, so a living one stands for it.
package enum TargetFileAccess {
  /// The file that is really mapped, never another one that happens to bear its name.
  ///
  /// In the order of what cannot be wrong: the mapping's own file, which needs CAP_CHECKPOINT_RESTORE; the executable;
  /// the path as the target sees it; the same path here. What a name leads to counts only if it is the mapped file.
  package static func mappedFile(_ region: MemoryRegion, of processID: Int32) -> FileDescriptor? {
    if let file = openMapping(region, processID) { return file }
    let process = "/proc/\(ThreadList.witness(of: processID))"
    var candidates = [Array("\(process)/exe".utf8)]
    for path in spellings(of: region.path) where path.first == UInt8(ascii: "/") {
      candidates += [Array("\(process)/root".utf8) + path, path]
    }
    for candidate in candidates {
      guard let file = RegularFile(path: candidate) else { continue }
      if file.identity == region.identity { return file.takeDescriptor() }
    }
    return nil
  }

  /// The link leads to the mapped file itself. On filesystems whose stat(2) shows another device than `maps`, the
  /// link's text tells whether the mapping is still the one that was listed.
  private static func openMapping(_ region: MemoryRegion, _ processID: Int32) -> FileDescriptor? {
    let range = String(region.start, radix: 16) + "-" + String(region.end, radix: 16)
    let link = "/proc/\(ThreadList.witness(of: processID))/map_files/\(range)"
    guard let file = RegularFile(path: Array(link.utf8)) else { return nil }
    let isSame =
      file.identity == region.identity
      || file.identity.inode == region.identity.inode
        && (try? readLink(link)) == region.path + Array((region.isDeleted ? " (deleted)" : "").utf8)
    return isSame ? file.takeDescriptor() : nil
  }

  /// The kernel prints a newline as `\012` and leaves a real `\012` as it is: either may be meant.
  private static func spellings(of path: [UInt8]) -> [[UInt8]] {
    let escaped = Array(#"\012"#.utf8)
    var decoded: [UInt8] = []
    var rest = path[...]
    while let byte = rest.first {
      let isEscape = rest.starts(with: escaped)
      decoded.append(isEscape ? UInt8(ascii: "\n") : byte)
      rest = rest.dropFirst(isEscape ? escaped.count : 1)
    }
    return decoded == path ? [path] : [path, decoded]
  }
}

extension TargetFileAccess {
  /// Where distributions put separate debug files. Nothing else of ours is opened for a target that may have its own root.
  private static let debugDirectory = Array("/usr/lib/debug/".utf8)

  /// A file with debug information, by an absolute path as the target sees it. Links are followed within the target's root.
  ///
  /// The path is made up from what the target's files say, so only ELF files are given out. Whether it belongs to the
  /// program is for the reader to find out, by build-id or checksum.
  package static func debugFile(_ path: [UInt8], of processID: Int32) -> FileDescriptor? {
    if let file = elfFile(path, root: "/proc/\(ThreadList.witness(of: processID))/root") { return file }
    guard path.starts(with: debugDirectory) else { return nil }
    return elfFile(path, root: "/")
  }

  private static func elfFile(_ path: [UInt8], root: String) -> FileDescriptor? {
    guard let file = RegularFile(path: path, root: root) else { return nil }
    let descriptor = file.takeDescriptor()
    guard (try? descriptor.readAll(limit: 4)) == [0x7F, 0x45, 0x4C, 0x46] else { return nil }
    return descriptor
  }

  /// The list that a program with generated code keeps for perf(1): named by the id that it knows itself by, in the
  /// `/tmp` that it sees. Only if it is a regular file of the target's own user.
  package static func perfMap(of processID: Int32) -> FileDescriptor? {
    guard let status = try? ProcessStatus(path: "/proc/\(processID)/status"),
      let user = status.effectiveUserID
    else { return nil }
    let group = status.threadGroup ?? processID
    let candidates = [
      ("/proc/\(ThreadList.witness(of: processID))/root", status.innermostGroup ?? group), ("/", group),
    ]
    for (root, id) in candidates {
      guard let file = RegularFile(path: Array("/tmp/perf-\(id).map".utf8), root: root), file.owner == user
      else { continue }
      return file.takeDescriptor()
    }
    return nil
  }

  /// A copy of a module from memory, for files that nobody but the target can read (a FUSE mount of one user): every
  /// byte of its mappings at its place in the file. What the loader did not map, such as section headers, is missing.
  package static func copyOfModule(_ regions: [MemoryRegion], of processID: Int32) -> SharedFile? {
    guard let copy = try? SealedBytes.Builder() else { return nil }
    var room = mostModuleBytes
    let memory = ProcessMemory(ofThread: ThreadList.witness(of: processID))
    var buffer = [UInt8](repeating: 0, count: 65_536)
    for region in regions where region.permissions.contains(.read) && !region.permissions.contains(.write) {
      var done: UInt64 = 0
      while done < region.end - region.start, room > 0 {
        let wanted = min(buffer.count, room, Int(region.end - region.start - done))
        let count = unsafe buffer.withUnsafeMutableBytes {
          unsafe (try? memory.read(
            at: region.start + done, into: UnsafeMutableRawBufferPointer(rebasing: $0[..<wanted])))
            ?? 0
        }
        guard count > 0, copy.write(buffer[..<count], at: region.fileOffset &+ done) else { break }
        done += UInt64(count)
        room -= count
      }
    }
    return room < mostModuleBytes ? try? copy.seal() : nil
  }

  private static let mostModuleBytes = 32 << 20
}
