// What lies where in a target's memory, answered from its list of mappings and the files behind them.

package import Linux
package import StallCore

/// A file (or the vDSO) at its place in memory.
package struct LoadedModule: Sendable {
  package var reference: ModuleReference
  /// Nil where the file could not be opened or is no x86-64 ELF file; then only the name is known.
  package var image: ElfImage?
  /// Address in memory minus address in the file's own terms.
  package var loadBias: UInt64?

  /// An address of memory in the file's own terms.
  package func offset(of address: UInt64) -> UInt64? { loadBias.map { address &- $0 } }

  /// The address is in the first instructions of the program or of its loader. Sixty-four bytes: glibc's `_start`
  /// has 38, musl's 22.
  func isEntry(_ address: UInt64) -> Bool {
    guard let image, let offset = offset(of: address) else { return false }
    return offset &- image.entry < 64
  }
}

/// One process image. Nothing is asked of the live process except, through `image`, its files.
package final class AddressSpace {
  package let map: MemoryMap
  private let openImage: (MemoryRegion) -> ElfImage?
  private let vdso: ElfImage?
  private var modules: [UInt64: LoadedModule] = [:]
  /// Each may hold an open file. Beyond this all are forgotten, and those still needed are asked for again.
  private static let mostModules = 512
  /// One interpretation of a rule reads hundreds of words of the same table.
  private var recentFile: MappedFile?

  /// `vdso`: a copy of the mapping of that name, which is no file. `image`: see `TargetFiles.image(for:)`.
  package init(map: MemoryMap, vdso: [UInt8]? = nil, image: @escaping (MemoryRegion) -> ElfImage?) {
    self.map = map
    openImage = image
    self.vdso = vdso.flatMap {
      try? ElfImage(
        pages: FilePages(contents: $0), identity: FileIdentity(deviceMajor: 0, deviceMinor: 0, inode: 0))
    }
  }

  package func region(containing address: UInt64) -> MemoryRegion? {
    map.region(containing: address)
  }

  /// Nothing was mapped there when the mappings were listed, so a copy that leads there needs a new list.
  package func isUnknown(_ address: UInt64) -> Bool { region(containing: address) == nil }

  package func isExecutable(_ address: UInt64) -> Bool { region(containing: address)?.isExecutable ?? false }

  /// The module mapped there; nil for anonymous memory and unmapped addresses.
  package func module(containing address: UInt64) -> LoadedModule? {
    guard let region = region(containing: address), !region.path.isEmpty else { return nil }
    if let known = modules[region.start] { return known }
    let image = region.path == Array("[vdso]".utf8) ? vdso : openImage(region)
    guard region.hasFile || image != nil else { return nil }
    var module = LoadedModule(
      reference: ModuleReference(
        path: ByteString(region.path), buildID: image?.buildID, isDeleted: region.isDeleted),
      image: image, loadBias: image?.loadBias(of: region))
    // The own terms of a file that is none of programs are places in it.
    if image == nil, region.isMemoryFile { module.loadBias = region.start &- region.fileOffset }
    if modules.count >= AddressSpace.mostModules { modules.removeAll() }
    modules[region.start] = module
    return module
  }

  /// Code that the process has made itself: it lies in memory that no program file is mapped to.
  package func isGenerated(_ address: UInt64) -> Bool {
    guard let region = region(containing: address), region.isExecutable else { return false }
    if region.isMemoryFile { return module(containing: address)?.image == nil }
    // `[vdso]`, `[vsyscall]` and `[uprobes]` are the kernel's; named anonymous memory is `[anon:…]`.
    let prefix = Array("[anon:".utf8)
    return !region.hasFile && (region.path.isEmpty || region.path.starts(with: prefix))
  }

  /// The word that the file behind a mapping holds for an address. For writable mappings the process may have another.
  func fileWord(at address: UInt64) -> UInt64? {
    if let recentFile, recentFile.start <= address, address < recentFile.end {
      return recentFile.pages.word(at: recentFile.offset(of: address))
    }
    guard let region = region(containing: address), let image = module(containing: address)?.image else {
      return nil
    }
    let file = MappedFile(region, image.pages)
    recentFile = file
    return file.pages.word(at: file.offset(of: address))
  }

  /// Instruction bytes from the file; nil where there is none, such as in generated code.
  func text(at address: UInt64, count: Int) -> [UInt8]? {
    guard let region = region(containing: address), region.isExecutable,
      let image = module(containing: address)?.image
    else { return nil }
    return image.pages.bytes(at: MappedFile(region, image.pages).offset(of: address), count: count)
  }
}

extension MemoryRegion {
  /// Made with memfd_create(2), by whatever name.
  fileprivate var isMemoryFile: Bool { path.starts(with: Array("/memfd:".utf8)) }
}

/// Where the bytes of a mapping are in its file.
private struct MappedFile {
  let start: UInt64
  let end: UInt64
  let pages: FilePages
  private let fileOffset: UInt64

  init(_ region: MemoryRegion, _ pages: FilePages) {
    start = region.start
    end = region.end
    fileOffset = region.fileOffset
    self.pages = pages
  }

  /// An offset that is too large to be one finds nothing in `pages`.
  func offset(of address: UInt64) -> UInt64 { address &- start &+ fileOffset }
}
