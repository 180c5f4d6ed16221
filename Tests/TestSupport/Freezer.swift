// Freezes processes of a test by a cgroup of its own, of version 1 or 2, whichever is there.

import Glibc
import Linux

/// A cgroup of its own, gone with its value.
package struct Freezer: ~Copyable {
  private let mount: String
  private let group: String
  private let isFirstVersion: Bool

  /// Nil where there is none that we may use.
  package init?() {
    let group = "/stallwatch-freezer-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
    let mounts = ["/sys/fs/cgroup/freezer", "/sys/fs/cgroup"]
    guard let mount = mounts.first(where: { unsafe mkdir($0 + group, 0o755) == 0 }) else { return nil }
    (self.mount, self.group) = (mount, group)
    isFirstVersion = unsafe access(mount + group + "/freezer.state", W_OK) == 0
  }

  deinit { unsafe rmdir(mount + group) }

  private var switchFile: String { group + (isFirstVersion ? "/freezer.state" : "/cgroup.freeze") }

  private func write(_ text: String, to file: String) throws {
    try FileDescriptor.create(mount + file, keepsContents: true).write(Array(text.utf8))
  }

  /// Wherever the process is.
  package func freeze(_ process: Int32) throws {
    try write("\(process)", to: group + "/cgroup.procs")
    try write(isFirstVersion ? "FROZEN" : "1", to: switchFile)
  }

  /// And lets go of everybody.
  package func thaw() {
    try? write(isFirstVersion ? "THAWED" : "0", to: switchFile)
    let processes = (try? readPseudoFile(mount + group + "/cgroup.procs")) ?? []
    for process in processes.split(separator: UInt8(ascii: "\n")) {
      try? write(String(decoding: process, as: UTF8.self), to: "/cgroup.procs")
    }
  }
}
