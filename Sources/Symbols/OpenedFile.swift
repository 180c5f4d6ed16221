// Which file a descriptor leads to, and that nobody rewrote it in place.

internal import Glibc

struct OpenedFile: Hashable {
  private var device: UInt64
  private var inode: UInt64
  private var size: Int64
  private var changedNanoseconds: Int64

  init?(_ descriptor: Int32) {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { return nil }
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    size = Int64(status.st_size)
    changedNanoseconds = Int64(status.st_ctim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_ctim.tv_nsec)
  }
}
