// The bytes of the vDSO. The kernel maps the same pages into every 64-bit process, so ours are the target's.

internal import Linux

enum OwnVDSO {
  /// vdso(7): its address is in the auxiliary vector. It is a whole ELF file, whose section headers come last. Nil where
  /// there is none.
  static let bytes: [UInt8]? = {
    guard let address = VDSO.ownAddress, let start = unsafe UnsafeRawPointer(bitPattern: UInt(address)) else {
      return nil
    }
    let header = unsafe Array(UnsafeRawBufferPointer(start: start, count: 64))
    // `Elf64_Ehdr`, elf(5): e_shoff, e_shentsize, e_shnum.
    let sections = header.littleEndian(at: 40, count: 8)
    let size = sections &+ header.littleEndian(at: 58, count: 2) &* header.littleEndian(at: 60, count: 2)
    guard header.starts(with: [0x7F, 0x45, 0x4C, 0x46]), size < 1 << 16 else { return nil }
    return unsafe Array(UnsafeRawBufferPointer(start: start, count: Int(size)))
  }()
}
