// Whom the task iterator's program is to tell of: its one constant.

internal import CLinux

package struct TaskRequest: Sendable {
  private var raw = clinux_task_request()

  /// Of the threads of this process. With our file's rights: only of those into which our caller may look without them.
  package init(process: Int32) {
    raw.process = process
    guard let caller = OwnRights.callerWithFewer else { return }
    raw.is_for_owner = 1
    (raw.owner, raw.group) = caller
  }

  package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    unsafe withUnsafeBytes(of: raw) { unsafe body($0) }
  }
}
