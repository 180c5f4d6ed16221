// The one funnel that every system call goes through.

internal import Glibc

/// Runs a call that answers −1 and sets errno when it fails; repeats it when a signal interrupted it.
///
/// Never inlined, so that nothing comes between the call and the reading of errno.
@inline(never)
package func systemCall<Result: FixedWidthInteger>(_ body: () -> Result) throws(Errno) -> Result {
  while true {
    let result = body()
    if result != -1 { return result }
    let error = Errno(errno)
    if error != .interrupted { throw error }
  }
}

extension [UInt8] {
  /// What a call writes into this much room. Room that it leaves is never touched, so that plenty costs nothing.
  init(upTo count: Int, _ body: (UnsafeMutableRawBufferPointer) -> Int) throws(Errno) {
    try self.init(capacity: count) { (room) throws(Errno) in
      try unsafe room.withUnsafeMutableBufferPointer { (buffer, written) throws(Errno) in
        written = try systemCall { unsafe body(UnsafeMutableRawBufferPointer(buffer)) }
      }
    }
  }
}
