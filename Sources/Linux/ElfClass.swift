// Whether a process runs a 32-bit program, whose registers and system-call numbers are not ours.

package enum ElfClass {
  /// From the file that the process executes: `e_ident[EI_CLASS]` is 1 for ELFCLASS32, elf(5). False where that cannot be
  /// read. Opens a file, which can block where its file system does not answer.
  package static func isThirtyTwoBit(process: Int32) -> Bool {
    guard let file = RegularFile(path: Array("/proc/\(process)/exe".utf8)),
      let identification = FilePages(file: file.takeDescriptor()).bytes(at: 0, count: 5)
    else { return false }
    return identification == [0x7F, 0x45, 0x4C, 0x46, 1]
  }
}
