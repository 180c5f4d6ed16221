// One file with debug information, mapped and opened by libdw.

internal import CElfutils
internal import Glibc
internal import Linux
internal import StallCore

/// Why there are no lines and no inlined calls.
package enum DebugFailure: Error, Hashable, Sendable {
  /// Neither in the module nor in a file of its own.
  case absent
  case unreadable
  case damaged
  /// Compressed, and larger than may be unpacked.
  case tooLarge
  /// Neither zlib nor zstd.
  case unknownCompression
}

/// libdw maps the file and believes most of what it reads: only for a process that may end with a hostile file.
@safe final class DebugFile {
  /// Where it was found.
  let path: ByteString
  let dwarf: OpaquePointer
  private let file: ElfFile
  // libelf reads through it, so it goes last.
  private let descriptor: FileDescriptor
  private let alternate: DebugFile?
  /// The file its common parts were moved to (`.gnu_debugaltlink`), if that could not be had.
  let missingAlternate: ByteString?
  /// Alternate files that belong to another build.
  let refusals: [DebugFileSearch.Refusal]

  /// Throws `absent` if the file has no debug information of its own. An alternate file has none besides: one that
  /// names another, or itself, would lead on for ever.
  init(
    owning descriptor: consuming FileDescriptor, path: ByteString, search: DebugFileSearch,
    isAlternate: Bool = false
  ) throws(DebugFailure) {
    var descriptor = descriptor
    var file = try Self.open(descriptor)
    guard file.hasDebugInformation else { throw .absent }
    if file.hasCompressedDebugSections {
      let copy = try file.decompressedCopy()
      file = try Self.open(copy)
      descriptor = copy
    }
    guard let dwarf = unsafe dwarf_begin_elf(file.handle.pointer, DWARF_C_READ, nil) else { throw .damaged }
    let common = unsafe Self.alternate(of: isAlternate ? nil : dwarf, at: path, search)
    if let alternate = common.file { unsafe dwarf_setalt(dwarf, alternate.dwarf) }
    unsafe self.dwarf = dwarf
    self.file = file
    self.descriptor = descriptor
    self.path = path
    alternate = common.file
    missingAlternate = common.missing
    refusals = common.refusals
  }

  deinit { unsafe _ = dwarf_end(dwarf) }

  func releasePages() {
    file.releasePages()
    alternate?.releasePages()
  }

  /// The bytes of a section; libdw's own view of the file has no way to ask for them.
  func withSection<Result>(named name: StaticString, _ body: (RawSpan) -> Result) -> Result? {
    guard let index = file.section(named: name) else { return nil }
    return try? file.withBytes(ofSection: index, body)
  }

  private static func open(_ descriptor: borrowing FileDescriptor) throws(DebugFailure) -> ElfFile {
    do throws(SymbolFailure) {
      return try ElfFile(descriptor: descriptor.rawValue, access: .mapped)
    } catch {
      throw error == .unreadable ? .unreadable : .damaged
    }
  }

  private static func alternate(
    of dwarf: OpaquePointer?, at path: ByteString, _ search: DebugFileSearch
  ) -> (file: DebugFile?, missing: ByteString?, refusals: [DebugFileSearch.Refusal]) {
    var text: UnsafePointer<CChar>?
    var bytes: UnsafeRawPointer?
    guard let dwarf = unsafe dwarf else { return (nil, nil, []) }
    let count = unsafe dwelf_dwarf_gnu_debugaltlink(dwarf, &text, &bytes)
    guard count > 0, count <= 64, let text = unsafe text, let bytes = unsafe bytes else {
      return (nil, nil, [])
    }
    let name = unsafe ByteString(UnsafeRawBufferPointer(start: text, count: strnlen(text, 4096)))
    let buildID = unsafe Array(UnsafeRawBufferPointer(start: bytes, count: count))
    var found = search.findAlternate(named: name, buildID: buildID, besides: path)
    let refusals = found.refusals
    guard let descriptor = found.file.take() else { return (nil, name, refusals) }
    let file = try? DebugFile(owning: descriptor, path: found.path, search: search, isAlternate: true)
    return (file, file == nil ? name : nil, refusals)
  }
}

extension ElfFile {
  fileprivate var hasDebugInformation: Bool {
    section(named: ".debug_info") != nil || section(named: ".zdebug_info") != nil
  }
}
