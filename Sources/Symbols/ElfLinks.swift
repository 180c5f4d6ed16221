// What ties an ELF file to its other parts: build-id, debug link, and the addresses at which it has code.

internal import CElfutils
internal import Glibc
internal import StallCore

/// `.gnu_debuglink`: the name of the separate debug file and the CRC-32 of its content.
struct DebugLink {
  var name: ByteString
  var checksum: UInt32
}

extension ElfFile {
  /// The bytes of the GNU build-id note.
  var buildID: [UInt8]? {
    var bytes: UnsafeRawPointer?
    let count = unsafe dwelf_elf_gnu_build_id(handle.pointer, &bytes)
    guard count > 0, count <= 64, let bytes = unsafe bytes else { return nil }
    return unsafe Array(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
  }

  var debugLink: DebugLink? {
    var checksum: GElf_Word = 0
    guard let text = unsafe dwelf_elf_gnu_debuglink(handle.pointer, &checksum) else { return nil }
    let name = unsafe Array(UnsafeRawBufferPointer(start: text, count: strnlen(text, 256)))
    // A name and no way to somewhere else.
    guard !name.isEmpty, !name.contains(UInt8(ascii: "/")), name != Array("..".utf8) else { return nil }
    return DebugLink(name: ByteString(name), checksum: checksum)
  }

  var programHeaders: [GElf_Phdr] {
    var count = 0
    guard unsafe elf_getphdrnum(handle.pointer, &count) == 0 else { return [] }
    var headers: [GElf_Phdr] = []
    for index in 0..<min(count, 512) {
      var header = GElf_Phdr()
      if unsafe gelf_getphdr(handle.pointer, Int32(index), &header) != nil { headers.append(header) }
    }
    return headers
  }

  /// Where its executable segments lie, in its own terms.
  var codeRanges: [Range<UInt64>] {
    programHeaders.compactMap { header in
      let (end, overflow) = header.p_vaddr.addingReportingOverflow(header.p_memsz)
      guard header.p_type == UInt32(PT_LOAD), header.p_flags & UInt32(PF_X) != 0, !overflow else {
        return nil
      }
      return header.p_vaddr..<end
    }
  }

  /// Gives the pages of a mapped file back; they are read again when they are needed.
  func releasePages() {
    var count = 0
    guard access == .mapped, let start = unsafe elf_rawfile(handle.pointer, &count) else { return }
    let address = UInt(bitPattern: start)
    let pageSize: UInt = 4096
    let first = address / pageSize * pageSize
    let length = Int(address + UInt(count) - first)
    unsafe _ = madvise(UnsafeMutableRawPointer(bitPattern: first), length, Int32(MADV_DONTNEED))
  }
}
