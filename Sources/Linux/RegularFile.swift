// Opening files whose names others chose, without waiting on or waking anything that is no regular file.

internal import CLinux
internal import Glibc

/// A regular file opened for reading, with the identity that it really has.
package struct RegularFile: ~Copyable {
  package let descriptor: FileDescriptor
  /// As stat(2) shows it.
  package let identity: FileIdentity
  package let owner: UInt32

  /// Nil if it cannot be opened or is anything else: opening a device can act on it, opening a pipe can block. So the
  /// name is resolved with O_PATH first, which touches nothing, and only a regular file is opened in earnest.
  package init?(path: [UInt8]) {
    guard !path.contains(0), let handle = try? FileDescriptor.resolve(path) else { return nil }
    self.init(resolved: handle)
  }

  /// The same for an absolute path below another root, which nothing in the path leads out of (openat2(2),
  /// RESOLVE_IN_ROOT).
  package init?(path: [UInt8], root: String) {
    guard !path.contains(0), path.first == UInt8(ascii: "/"),
      let rootDirectory = try? FileDescriptor.resolve(Array(root.utf8))
    else { return nil }
    let name = path + [0]
    let resolved = try? systemCall {
      unsafe name.withUnsafeBytes {
        unsafe clinux_open_path_in(
          rootDirectory.rawValue, $0.assumingMemoryBound(to: CChar.self).baseAddress!)
      }
    }
    guard let resolved else { return nil }
    self.init(resolved: FileDescriptor(owning: resolved))
  }

  private init?(resolved handle: borrowing FileDescriptor) {
    var status = stat()
    guard unsafe fstat(handle.rawValue, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      let opened = try? FileDescriptor.open("/proc/self/fd/\(handle.rawValue)", flags: O_NONBLOCK)
    else { return nil }
    descriptor = opened
    identity = FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    owner = status.st_uid
  }
}

extension RegularFile {
  package consuming func takeDescriptor() -> FileDescriptor { descriptor }
}

extension FileIdentity {
  /// Takes a `dev_t` apart as glibc composes it (sys/sysmacros.h).
  package init(device: UInt64, inode: UInt64) {
    self.init(
      deviceMajor: UInt32(truncatingIfNeeded: device >> 32 & 0xFFFF_F000 | device >> 8 & 0xFFF),
      deviceMinor: UInt32(truncatingIfNeeded: device >> 12 & 0xFFFF_FF00 | device & 0xFF), inode: inode)
  }
}
