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
