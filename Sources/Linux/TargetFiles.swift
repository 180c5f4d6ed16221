// The files behind a target's mappings, opened once and kept, so that names survive deletion and the target's end.

internal import Synchronization

/// Opens the file that is really mapped, never another one that happens to bear its name.
package final class TargetFiles: Sendable {
  private let processID: Int32
  private let images: Mutex<[FileIdentity: ElfImage?]>
  /// Each holds a descriptor and up to 1 MB. Beyond this all are forgotten; those still needed are opened again.
  private static let imageLimit = 256

  package init(processID: Int32) {
    self.processID = processID
    images = Mutex([:])
  }

  /// The image mapped there; nil if it is no ELF file for this processor or cannot be opened.
  package func image(for region: MemoryRegion) -> ElfImage? {
    guard region.hasFile else { return nil }
    if let known = images.withLock({ $0[region.identity] }) { return known }
    let image = open(region).flatMap { try? ElfImage(pages: $0, identity: region.identity) }
    images.withLock {
      if $0.count >= TargetFiles.imageLimit { $0.removeAll() }
      $0[region.identity] = .some(image)
    }
    return image
  }

  /// In the order of what cannot be wrong: the mapping's own file, which needs CAP_CHECKPOINT_RESTORE; the executable;
  /// the path as the target sees it; the same path here. What a name leads to counts only if it is the mapped file.
  private func open(_ region: MemoryRegion) -> FilePages? {
    if let pages = openMapping(region) { return pages }
    let process = "/proc/\(processID)"
    var candidates = [Array("\(process)/exe".utf8)]
    for path in TargetFiles.spellings(of: region.path) where path.first == UInt8(ascii: "/") {
      candidates += [Array("\(process)/root".utf8) + path, path]
    }
    for candidate in candidates {
      guard let file = RegularFile(path: candidate) else { continue }
      if file.identity == region.identity { return FilePages(file: file.takeDescriptor()) }
    }
    return nil
  }

  /// The link leads to the mapped file itself. On filesystems whose stat(2) shows another device than `maps`, the
  /// link's text tells whether the mapping is still the one that was listed.
  private func openMapping(_ region: MemoryRegion) -> FilePages? {
    let range = String(region.start, radix: 16) + "-" + String(region.end, radix: 16)
    let link = "/proc/\(processID)/map_files/\(range)"
    guard let file = RegularFile(path: Array(link.utf8)) else { return nil }
    let isSame =
      file.identity == region.identity
      || file.identity.inode == region.identity.inode
        && (try? readLink(link)) == region.path + Array((region.isDeleted ? " (deleted)" : "").utf8)
    return isSame ? FilePages(file: file.takeDescriptor()) : nil
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
