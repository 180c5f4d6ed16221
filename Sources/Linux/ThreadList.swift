// The threads of a process, from the names in `/proc/PID/task`.

internal import Glibc

package enum ThreadList {
  /// Thread ids in the order of the kernel's list, oldest first.
  package static func threads(of process: Int32) throws(Errno) -> [Int32] {
    guard let directory = unsafe opendir("/proc/\(process)/task") else { throw Errno(errno) }
    defer { unsafe closedir(directory) }
    var threads: [Int32] = []
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if let thread = Int32(name) { threads.append(thread) }
    }
    return threads
  }
}
