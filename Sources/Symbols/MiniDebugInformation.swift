// The symbols that distributions keep in stripped files: `.gnu_debugdata`, a whole ELF file compressed with xz.

internal import CCompression
internal import Linux

extension ElfFile {
  /// What one library's symbols can take; libc's take 300 KB.
  private static let maximumMiniBytes: UInt64 = 64 << 20

  /// The file that is inside, in memory; nil if there is none.
  func miniDebugInformation() throws(SymbolFailure) -> FileDescriptor? {
    guard let index = section(named: ".gnu_debugdata") else { return nil }
    let file: FileDescriptor
    do throws(Errno) {
      file = FileDescriptor(owning: try systemCall { ccompression_memory_file() })
    } catch { throw .unreadable }
    let raw = file.rawValue
    let count = try withBytes(ofSection: index) { bytes in
      unsafe bytes.withUnsafeBytes {
        unsafe ccompression_xz($0.baseAddress, $0.count, raw, Self.maximumMiniBytes)
      }
    }
    guard count >= 0 else { throw .damaged }
    return file
  }
}
