// Where a process keeps libdispatch's main queue.

package enum MainQueueAddress {
  /// Exported by the library; in a program that contains the library, a name of its own.
  private static let symbol = "_dispatch_main_q"

  /// Nil for a program without libdispatch, and for one that contains it and has lost its symbols. Can block where files
  /// or the target's memory do not answer.
  package static func find(in process: Int32) -> UInt64? {
    let witness = ThreadList.witness(of: process)
    guard let map = try? MemoryMap(processID: witness) else { return nil }
    let executable = (try? readLink("/proc/\(witness)/exe")) ?? []
    let libraries = map.regions.filter { $0.isFirst && isLibrary($0.path) }
    let programs = map.regions.filter { $0.isFirst && $0.path == executable }
    return (libraries + programs).lazy.compactMap { address(in: $0, of: process) }.first
  }

  private static func isLibrary(_ path: [UInt8]) -> Bool {
    let name = path[((path.lastIndex(of: UInt8(ascii: "/")) ?? -1) + 1)...]
    return name.starts(with: "libdispatch.so".utf8)
  }

  private static func address(in region: MemoryRegion, of process: Int32) -> UInt64? {
    guard let file = TargetFileAccess.mappedFile(region, of: process) else { return nil }
    let image = try? ElfImage(pages: FilePages(file: file), identity: region.identity)
    guard let image, let bias = image.loadBias(of: region) else { return nil }
    return image.address(ofSymbol: symbol).map { bias &+ $0 }
  }
}

extension MemoryRegion {
  fileprivate var isFirst: Bool { hasFile && fileOffset == 0 }
}
