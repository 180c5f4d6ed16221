// The bytes of the vDSO. The kernel maps the same pages into every 64-bit process, so ours are the target's.

internal import Glibc
internal import Linux

enum OwnVDSO {
  /// vdso(7): its address is in the auxiliary vector. Nil where there is none.
  static let bytes: [UInt8]? = {
    guard let address = VDSO.ownAddress, let map = try? MemoryMap(processID: getpid()),
      let region = map.region(containing: address),
      let start = unsafe UnsafeRawPointer(bitPattern: UInt(region.start))
    else { return nil }
    return unsafe Array(UnsafeRawBufferPointer(start: start, count: Int(region.end - region.start)))
  }()
}
