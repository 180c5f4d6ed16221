// Who a file belongs to, and what a user is called.

internal import Glibc

package enum FileOwner {
  /// Nil if there is no such file.
  package static func of(_ path: String) -> UInt32? {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? status.st_uid : nil
  }
}

package enum UserName {
  /// Nil if nobody is known by this id, getpwuid(3). Not for threads that may run at the same time.
  package static func of(_ user: UInt32) -> [UInt8]? {
    guard let entry = unsafe getpwuid(user), let name = unsafe entry.pointee.pw_name else { return nil }
    return unsafe UnsafeBufferPointer(start: name, count: strlen(name)).map { UInt8(bitPattern: $0) }
  }
}
