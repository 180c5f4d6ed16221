// What the kernel's security module calls a process: an AppArmor profile, an SELinux context.

package enum SecurityLabel {
  /// `/proc/PID/attr/current`, proc_pid_attr(5); nil where there is no such module, or it says nothing.
  package static func ofProcess(_ process: Int32) -> [UInt8]? { read("/proc/\(process)/attr/current") }

  package static var own: [UInt8]? { read("/proc/self/attr/current") }

  private static func read(_ path: String) -> [UInt8]? {
    guard var bytes = try? readPseudoFile(path, limit: 4096) else { return nil }
    while let last = bytes.last, last == 0 || last == UInt8(ascii: "\n") { bytes.removeLast() }
    return bytes.isEmpty ? nil : bytes
  }
}
