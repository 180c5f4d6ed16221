// Whether a process runs a 32-bit program, whose registers and system-call numbers are not ours.

package enum ElfClass {
  /// From its auxiliary vector (getauxval(3)), pairs of words that are as wide as its addresses: AT_PHENT (4), the size
  /// of a program header, is 32 in ELFCLASS32. Not from its file, which need not answer just when the program stalls.
  /// False where that cannot be read.
  package static func isThirtyTwoBit(process: Int32) -> Bool {
    guard let vector = try? readPseudoFile("/proc/\(process)/auxv", limit: 4096) else { return false }
    return stride(from: 0, to: vector.count - 7, by: 8).contains {
      vector.littleEndian(at: $0, count: 4) == 4 && vector.littleEndian(at: $0 + 4, count: 4) == 32
    }
  }
}
