// Bytes that stay where they are while they are read: a file of the kernel, or a copy.

internal import Glibc

@safe package struct KernelBytes: ~Copyable {
  private let bytes: UnsafeRawBufferPointer
  private let isMapped: Bool

  /// Far more than any file that is read like this has.
  private static let mostBytes = 64 << 20

  package init(_ copy: [UInt8]) {
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: copy.count, alignment: 8)
    unsafe room.copyBytes(from: copy)
    self = unsafe KernelBytes(UnsafeRawBufferPointer(room), isMapped: false)
  }

  /// A file whose size is known and stays. Mapped (`/sys/kernel/btf/vmlinux` can be since Linux 6.16), it costs nothing; read,
  /// a system call for each 4 KB, whatever is asked for (fs/kernfs/file.c, `kernfs_file_read_iter`).
  package init(path: String, mapping: Bool = true) throws(Errno) {
    let file = try FileDescriptor.open(path)
    var status = stat()
    _ = try systemCall { unsafe fstat(file.rawValue, &status) }
    let count = Int(status.st_size)
    guard mapping, 1...Self.mostBytes ~= count,
      let map = unsafe mmap(nil, count, PROT_READ, MAP_PRIVATE, file.rawValue, 0), unsafe map != MAP_FAILED
    else {
      self.init(try file.readAll(limit: Self.mostBytes))
      return
    }
    self = unsafe KernelBytes(UnsafeRawBufferPointer(start: map, count: count), isMapped: true)
  }

  private init(_ bytes: UnsafeRawBufferPointer, isMapped: Bool) {
    unsafe self.bytes = bytes
    self.isMapped = isMapped
  }

  deinit {
    if isMapped {
      unsafe munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count)
    } else {
      unsafe bytes.deallocate()
    }
  }

  package var count: Int { unsafe bytes.count }

  /// All of it must lie within the bytes.
  package func load<Value: FixedWidthInteger & BitwiseCopyable>(at position: Int, as type: Value.Type)
    -> Value
  {
    unsafe bytes.loadUnaligned(fromByteOffset: position, as: type)
  }
}
