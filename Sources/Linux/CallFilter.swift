// Whether a filter on our own system calls (seccomp(2), as containers set it) refuses those that looking needs.

internal import CLinux
internal import Glibc

/// Each is tried in a way that reaches nobody else: it fails later, or reads ourselves, if no filter is in the way.
package enum CallFilter {
  /// Why ptrace(2) is refused to us whatever the target. There is no thread 0, so that the kernel's answer is ESRCH.
  package static var ptraceRefusal: Errno? {
    refusal { () throws(Errno) in _ = try systemCall { clinux_ptrace_seize(0) } }
  }

  /// Why process_vm_readv(2) is refused to us whatever the target: everybody may read himself.
  package static var memoryRefusal: Errno? {
    refusal { () throws(Errno) in
      var source: UInt64 = 0
      var copy: UInt64 = 0
      _ = try systemCall {
        unsafe withUnsafeMutablePointer(to: &source) { address in
          unsafe clinux_process_vm_read(getpid(), UInt64(UInt(bitPattern: address)), &copy, 8)
        }
      }
    }
  }

  private static func refusal(_ attempt: () throws(Errno) -> Void) -> Errno? {
    do { try attempt() } catch { return error.meansNotAllowed || error == .notSupported ? error : nil }
    return nil
  }
}
