// A cgroup with a CPU quota, for the tests of what that does to a loop.

import Glibc
import Linux
import TestSupport

/// A cgroup whose processes get a twentieth of a core; removed at its end.
struct QuotaGroup: ~Copyable {
  private let path: String

  /// Nil where that is not allowed.
  init?() {
    let name = "stallwatch-test-\(getpid())"
    for (root, settings) in [
      ("/sys/fs/cgroup/cpu", ["cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "5000"]),
      ("/sys/fs/cgroup", ["cpu.max": "5000 100000"]),
    ] {
      let path = "\(root)/\(name)"
      guard unsafe mkdir(path, 0o755) == 0 else { continue }
      let isSet = settings.sorted { $0.key < $1.key }.allSatisfy {
        Self.write($0.value, to: "\(path)/\($0.key)")
      }
      if isSet {
        self.path = path
        return
      }
      unsafe rmdir(path)
    }
    return nil
  }

  deinit {
    let path = self.path
    _ = eventually { unsafe rmdir(path) == 0 }
  }

  func add(_ process: Int32) throws(Errno) {
    guard Self.write("\(process)", to: "\(path)/cgroup.procs") else { throw .inputOutput }
  }

  private static func write(_ text: String, to path: String) -> Bool {
    let descriptor = unsafe open(path, O_WRONLY)
    guard descriptor >= 0 else { return false }
    return (try? FileDescriptor(owning: descriptor).write(Array(text.utf8))) != nil
  }
}
