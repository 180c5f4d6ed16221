// Debug sections that are compressed, written out into a file in memory that libdw can map.

internal import CCompression
internal import CElfutils
internal import Glibc
internal import Linux

/// How a section's bytes are packed: `SHF_COMPRESSED` with its header (gABI), or GNU's older `.zdebug_*`.
private enum Packing {
  case none
  case zlib(headerSize: Int)
  case zstd(headerSize: Int)
  case unknown
}

extension ElfFile {
  /// libelf would inflate every section into its own memory, whatever their size, and Debian's knows no zstd. A copy in
  /// a file can be mapped and given back page by page, and is limited.
  static let maximumDecompressedBytes = 256 << 20

  var hasCompressedDebugSections: Bool {
    debugSections.contains { index, name in
      if case .none = packing(ofSection: index, named: name) { false } else { true }
    }
  }

  /// Large in proportion: where variables are, and what linkers and debuggers look up.
  private static let unread: Set<String> = [
    "loc", "loclists", "aranges", "frame", "macro", "macinfo", "names", "pubnames", "pubtypes",
    "gnu_pubnames",
    "gnu_pubtypes",
  ]

  /// Section indexes and names, of those sections that libdw reads for us.
  private var debugSections: [(index: Int, name: [UInt8])] {
    let found: [(index: Int, name: [UInt8])] = sections.indices.compactMap { index in
      guard sections[index].type == UInt32(SHT_PROGBITS) else { return nil }
      let name = name(ofSection: index)
      let isOne =
        name.starts(with: ".debug_".utf8) || name.starts(with: ".zdebug_".utf8)
        || name == Array(".gnu_debugaltlink".utf8)
      let word = name.split(separator: UInt8(ascii: "_"), maxSplits: 1).last ?? []
      guard isOne, !Self.unread.contains(String(decoding: word, as: UTF8.self)) else { return nil }
      return (index, name)
    }
    // DWARF 5 has about 25.
    return Array(found.prefix(256))
  }

  private func packing(ofSection index: Int, named name: [UInt8]) -> Packing {
    if sections[index].flags & UInt64(SHF_COMPRESSED) != 0 {
      let size = MemoryLayout<Elf64_Chdr>.size
      let type = try? withBytes(ofSection: index) { bytes in
        bytes.byteCount < size ? 0 : unsafe bytes.unsafeLoadUnaligned(as: UInt32.self)
      }
      return switch type {
      case 1: .zlib(headerSize: size)
      case 2: .zstd(headerSize: size)
      default: .unknown
      }
    }
    return name.starts(with: ".zdebug_".utf8) ? .zlib(headerSize: 12) : .none
  }

  /// A file that holds the debug sections and nothing else.
  func decompressedCopy() throws(DebugFailure) -> FileDescriptor {
    let file: FileDescriptor
    do throws(Errno) {
      file = FileDescriptor(owning: try systemCall { ccompression_memory_file() })
    } catch { throw .unreadable }
    var writer = SectionWriter(descriptor: file.rawValue)
    for (index, name) in debugSections {
      let packing = packing(ofSection: index, named: name)
      let plainName =
        name.starts(with: ".zdebug_".utf8) ? Array(".debug_".utf8) + name.dropFirst(8) : name
      let outcome: Result<Void, DebugFailure>
      do throws(SymbolFailure) {
        outcome = try withBytes(ofSection: index) { bytes in
          Result { () throws(DebugFailure) in try writer.append(bytes, packing, name: plainName) }
        }
      } catch { throw .damaged }
      try outcome.get()
    }
    try writer.finish(machine: isX8664 ? EM_X86_64 : EM_NONE)
    return file
  }
}

/// Writes an ELF file of sections one after the other; their headers stand at its end.
private struct SectionWriter {
  private static let headerSize = MemoryLayout<Elf64_Ehdr>.size

  let descriptor: Int32
  private var position = headerSize
  private var headers = [Elf64_Shdr()]
  private var names: [UInt8] = [0]

  init(descriptor: Int32) {
    self.descriptor = descriptor
    _ = lseek(descriptor, Self.headerSize, SEEK_SET)
  }

  mutating func append(_ bytes: RawSpan, _ packing: Packing, name: [UInt8]) throws(DebugFailure) {
    let room = UInt64(max(0, ElfFile.maximumDecompressedBytes - position))
    let size = try unsafe bytes.withUnsafeBytes { (raw) throws(DebugFailure) -> UInt64 in
      let size = try unsafe Self.plainSize(of: raw, packing)
      guard size <= room else { throw .tooLarge }
      guard unsafe Int64(size) == unpack(raw, packing, size) else { throw .damaged }
      return size
    }
    add(name, offset: position, size: Int(size), type: SHT_PROGBITS)
    position += Int(size)
  }

  /// As it is stated: at 8 in `Elf64_Chdr`, and at 4 in GNU's header, big-endian behind "ZLIB".
  private static func plainSize(
    of raw: UnsafeRawBufferPointer, _ packing: Packing
  ) throws(DebugFailure) -> UInt64 {
    switch packing {
    case .none: return UInt64(raw.count)
    case .unknown: throw .unknownCompression
    case .zlib(let header), .zstd(let header):
      guard raw.count > header else { throw .damaged }
      let isGNU = header == 12
      let size = unsafe raw.loadUnaligned(fromByteOffset: isGNU ? 4 : 8, as: UInt64.self)
      return isGNU ? size.byteSwapped : size
    }
  }

  /// How many bytes came out; −1 if it failed or more would have.
  private func unpack(_ raw: UnsafeRawBufferPointer, _ packing: Packing, _ size: UInt64) -> Int64 {
    switch packing {
    case .none: unsafe store(raw) ? Int64(raw.count) : -1
    case .zlib(let header):
      unsafe ccompression_zlib(raw.baseAddress! + header, raw.count - header, descriptor, size)
    case .zstd(let header):
      unsafe ccompression_zstd(raw.baseAddress! + header, raw.count - header, descriptor, size)
    case .unknown: -1
    }
  }

  private mutating func add(_ name: [UInt8], offset: Int, size: Int, type: Int32) {
    var header = Elf64_Shdr()
    header.sh_name = UInt32(names.count)
    header.sh_type = UInt32(type)
    header.sh_offset = UInt64(offset)
    header.sh_size = UInt64(size)
    header.sh_addralign = 1
    headers.append(header)
    names += name + [0]
  }

  private func store(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var output = ccompression_output(descriptor: descriptor, written: 0, limit: .max)
    return unsafe ccompression_write(
      &output, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
  }

  mutating func finish(machine: Int32) throws(DebugFailure) {
    add(Array(".shstrtab".utf8), offset: position, size: names.count + 10, type: SHT_STRTAB)
    names += [UInt8](repeating: 0, count: (8 - (position + names.count) % 8) % 8)
    var header = Elf64_Ehdr()
    unsafe withUnsafeMutableBytes(of: &header) {
      unsafe $0.copyBytes(from: [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1])
    }
    header.e_type = UInt16(ET_DYN)
    header.e_machine = UInt16(machine)
    header.e_version = UInt32(EV_CURRENT)
    header.e_shoff = UInt64(position + names.count)
    header.e_ehsize = UInt16(Self.headerSize)
    header.e_shentsize = UInt16(MemoryLayout<Elf64_Shdr>.size)
    header.e_shnum = UInt16(headers.count)
    header.e_shstrndx = UInt16(headers.count - 1)
    let isComplete =
      unsafe names.withUnsafeBytes { unsafe store($0) }
      && headers.withUnsafeBytes { unsafe store($0) } && lseek(descriptor, 0, SEEK_SET) == 0
      && withUnsafeBytes(of: header) { unsafe store($0) }
    if !isComplete { throw .unreadable }
  }
}
