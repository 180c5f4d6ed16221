// The files behind a target's mappings, opened once and kept.

internal import Synchronization

/// The images of a target, each made once from its opened file.
package final class TargetFiles: Sendable {
  package typealias Opener = @Sendable (MemoryRegion) -> FileDescriptor?

  private let open: Opener
  private let images: Mutex<[FileIdentity: ElfImage?]>
  /// Each holds a descriptor and up to 1 MB. Beyond this all are forgotten; those still needed are opened again.
  private static let imageLimit = 256

  /// `open` gives the file that is mapped there, or nil.
  package init(open: @escaping Opener) {
    self.open = open
    images = Mutex([:])
  }

  package convenience init(processID: Int32) {
    self.init { TargetFileAccess.mappedFile($0, of: processID) }
  }

  /// The image mapped there; nil if it is no ELF file for this processor or cannot be opened.
  package func image(for region: MemoryRegion) -> ElfImage? {
    guard region.hasFile else { return nil }
    if let known = images.withLock({ $0[region.identity] }) { return known }
    let image = makeImage(region)
    images.withLock {
      if $0.count >= TargetFiles.imageLimit { $0.removeAll() }
      $0[region.identity] = .some(image)
    }
    return image
  }

  private func makeImage(_ region: MemoryRegion) -> ElfImage? {
    guard let file = open(region) else { return nil }
    return try? ElfImage(pages: FilePages(file: file), identity: region.identity)
  }
}
