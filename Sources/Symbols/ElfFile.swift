// The sections of an opened ELF file, read within limits: every byte of it may be hostile.

internal import CElfutils
internal import Glibc

/// Why a file gives no names.
package enum SymbolFailure: Error, Hashable, Sendable {
  /// No regular file, or one that is not 64-bit little-endian ELF.
  case notELF
  case unreadable
  /// Headers, symbols or strings contradict each other or the file's size.
  case damaged
  /// More symbols or strings than an index may hold.
  case tooLarge
  /// A sound file without function symbols.
  case noSymbols
}

/// A section header, as in elf(5).
struct ElfSection {
  /// Offset of its name in the table of section names.
  var name: UInt32
  var type: UInt32
  var flags: UInt64
  var address: UInt64
  var offset: UInt64
  var size: UInt64
  var entrySize: UInt64
  /// Index of the section it goes with: a symbol table's strings, a relocation table's symbols.
  var link: Int

  var isExecutable: Bool { flags & UInt64(SHF_EXECINSTR) != 0 }
  /// The first address behind it; nil if it wraps around.
  var end: UInt64? {
    let (end, overflow) = address.addingReportingOverflow(size)
    return overflow ? nil : end
  }
}

/// A libelf descriptor.
@safe struct ElfHandle: ~Copyable {
  let pointer: OpaquePointer
  let byteCount: UInt64

  init(descriptor: Int32, access: ElfFile.Access) throws(SymbolFailure) {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw .unreadable }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notELF }
    guard elf_version(UInt32(EV_CURRENT)) != EV_NONE,
      let pointer = unsafe elf_begin(descriptor, access == .mapped ? ELF_C_READ_MMAP : ELF_C_READ, nil)
    else { throw .unreadable }
    unsafe self.pointer = pointer
    byteCount = UInt64(status.st_size)
  }

  deinit { unsafe _ = elf_end(pointer) }
}

struct ElfFile: ~Copyable {
  enum Access {
    /// With pread: safe whatever becomes of the file.
    case read
    /// A mapped file that shrinks raises SIGBUS: only where that ends nobody but the process that is there for it.
    case mapped
  }

  static let maximumSections = 100_000
  static let maximumSectionBytes: UInt64 = 256 << 20
  private static let pieceBytes = 1 << 17

  let handle: ElfHandle
  private let descriptor: Int32
  private let byteCount: UInt64
  let access: Access
  let sections: [ElfSection]
  let isX8664: Bool
  /// The section headers lie outside the file: it is damaged, or it was put together from a process's memory.
  let lacksItsSections: Bool

  /// The descriptor stays the caller's and must stay open as long as this value lives.
  init(descriptor: Int32, access: Access = .read) throws(SymbolFailure) {
    let handle = try ElfHandle(descriptor: descriptor, access: access)
    guard unsafe elf_kind(handle.pointer) == ELF_K_ELF else { throw .notELF }
    var header = GElf_Ehdr()
    guard unsafe gelf_getehdr(handle.pointer, &header) != nil else { throw .damaged }
    guard header.e_ident.4 == ELFCLASS64, header.e_ident.5 == ELFDATA2LSB else { throw .notELF }
    let sections = try Self.readSections(of: handle)
    lacksItsSections = sections.isEmpty && header.e_shoff != 0
    byteCount = handle.byteCount
    self.handle = handle
    self.access = access
    self.descriptor = descriptor
    self.sections = sections
    isX8664 = Int32(header.e_machine) == EM_X86_64
  }

  private static func readSections(of handle: borrowing ElfHandle) throws(SymbolFailure) -> [ElfSection] {
    var count = 0
    guard unsafe elf_getshdrnum(handle.pointer, &count) == 0 else { throw .damaged }
    guard count <= maximumSections else { throw .tooLarge }
    var sections: [ElfSection] = []
    sections.reserveCapacity(count)
    for index in 0..<count {
      var header = GElf_Shdr()
      guard let section = unsafe elf_getscn(handle.pointer, index),
        unsafe gelf_getshdr(section, &header) != nil
      else {
        throw .damaged
      }
      sections.append(
        ElfSection(
          name: header.sh_name, type: header.sh_type, flags: header.sh_flags, address: header.sh_addr,
          offset: header.sh_offset,
          size: header.sh_size, entrySize: header.sh_entsize, link: Int(header.sh_link)))
    }
    return sections
  }

  /// The first section of a type, with its index.
  func firstSection(ofType type: Int32) -> Int? { sections.firstIndex { $0.type == UInt32(type) } }

  /// The bytes of a section as they stand in the file.
  func withBytes<Result>(
    ofSection index: Int, _ body: (RawSpan) -> Result
  ) throws(SymbolFailure) -> Result {
    guard sections.indices.contains(index) else { throw .damaged }
    guard access == .mapped || sections[index].size <= Self.maximumSectionBytes else { throw .tooLarge }
    guard sections[index].type != UInt32(SHT_NOBITS), let section = unsafe elf_getscn(handle.pointer, index),
      let data = unsafe elf_rawdata(section, nil)
    else { throw .damaged }
    let bytes = unsafe UnsafeRawBufferPointer(start: data.pointee.d_buf, count: data.pointee.d_size)
    return unsafe body(bytes.bytes)
  }

  /// Hands out the bytes of a section in pieces that hold whole units, without a copy of them all in memory.
  func readPieces(
    ofSection index: Int, unit: Int, _ body: (RawSpan) -> Void
  ) throws(SymbolFailure) {
    guard contains(section: index) else { throw .damaged }
    guard sections[index].size <= Self.maximumSectionBytes else { throw .tooLarge }
    var place = Int(sections[index].offset)
    let end = place + Int(sections[index].size) / unit * unit
    let mostBytes = max(1, Self.pieceBytes / unit) * unit
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: mostBytes, alignment: 16)
    defer { unsafe piece.deallocate() }
    while place < end {
      let count = min(mostBytes, end - place)
      guard unsafe pread(descriptor, piece.baseAddress, count, place) == count else { throw .damaged }
      unsafe body(UnsafeRawBufferPointer(rebasing: piece[..<count]).bytes)
      place += count
    }
  }

  /// One of a section's entries; nil if it has fewer.
  func read<Unit: BitwiseCopyable>(
    unit number: Int, ofSection index: Int, as type: Unit.Type
  ) throws(SymbolFailure) -> Unit? {
    let size = MemoryLayout<Unit>.size
    guard contains(section: index) else { throw .damaged }
    guard number < Int(sections[index].size) / size else { return nil }
    return unsafe withUnsafeTemporaryAllocation(of: Unit.self, capacity: 1) { buffer in
      let place = Int(sections[index].offset) + number * size
      return unsafe pread(descriptor, buffer.baseAddress, size, place) == size ? buffer[0] : nil
    }
  }

  /// Whether all of a section's bytes are in the file.
  func contains(section index: Int) -> Bool {
    guard sections.indices.contains(index), sections[index].type != UInt32(SHT_NOBITS) else { return false }
    let (end, overflow) = sections[index].offset.addingReportingOverflow(sections[index].size)
    return !overflow && end <= byteCount
  }

  /// The index of the section of a name, which ends before its NUL or after 256 bytes.
  func section(named name: StaticString) -> Int? {
    sections.indices.first { self.name(ofSection: $0).elementsEqual("\(name)".utf8) }
  }

  func name(ofSection index: Int) -> [UInt8] {
    var table = 0
    guard unsafe elf_getshdrstrndx(handle.pointer, &table) == 0,
      let text = unsafe elf_strptr(handle.pointer, table, Int(sections[index].name))
    else { return [] }
    return unsafe Array(UnsafeRawBufferPointer(start: text, count: strnlen(text, 256)))
  }
}
