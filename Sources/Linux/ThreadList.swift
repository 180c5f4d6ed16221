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

  /// Those that have not ended, of which nothing is left but a status for the parent.
  package static func living(of process: Int32) -> [Int32] {
    ((try? threads(of: process)) ?? []).filter { thread in
      guard let text = try? readPseudoFile("/proc/\(process)/task/\(thread)/stat") else { return false }
      return ThreadStat(text.span).map { !$0.hasEnded } ?? false
    }
  }

  /// The thread that the process itself, in its own pid namespace, knows by this id. It need not live.
  package static func thread(of process: Int32, knownToItselfAs id: Int32) -> Int32? {
    guard id > 0, let status = try? ProcessStatus(path: "/proc/\(process)/status") else { return nil }
    guard let innermost = status.innermostID, innermost != process else { return id }
    return ((try? threads(of: process)) ?? []).prefix(mostSearched).first { thread in
      (try? ProcessStatus(path: "/proc/\(process)/task/\(thread)/status"))?.innermostID == id
    }
  }

  private static let mostSearched = 4096

  /// A thread that has the memory and the files of the process: the first one, or another where that has ended.
  package static func witness(of process: Int32) -> Int32 {
    let first = try? readPseudoFile("/proc/\(process)/task/\(process)/stat")
    guard let first, let stat = ThreadStat(first.span), stat.hasEnded else { return process }
    return living(of: process).first ?? process
  }
}
