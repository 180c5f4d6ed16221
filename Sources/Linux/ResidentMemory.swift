// How much memory a process really occupies.

internal import Glibc

/// The second number of `/proc/PID/statm`, in pages (proc_pid_statm(5)). Shared pages count.
package func residentBytes(of process: Int32) throws(Errno) -> UInt64 {
  let bytes = try readPseudoFile("/proc/\(process)/statm", limit: 256)
  let text = bytes.span
  var position = 0
  _ = text.decimal(at: &position)
  text.skipBlanks(at: &position)
  guard let pages = text.decimal(at: &position) else { throw .noSuchProcess }
  return pages &* UInt64(sysconf(Int32(_SC_PAGESIZE)))
}
