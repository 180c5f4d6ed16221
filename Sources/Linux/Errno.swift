// The reason a system call failed.

internal import Glibc

/// An error number, named as in errno(3).
package struct Errno: Error, Hashable, Sendable {
  package let code: Int32

  package init(_ code: Int32) { self.code = code }

  package static let notPermitted = Errno(EPERM)
  package static let noSuchFile = Errno(ENOENT)
  package static let noSuchProcess = Errno(ESRCH)
  package static let interrupted = Errno(EINTR)
  package static let inputOutput = Errno(EIO)
  package static let noChildProcess = Errno(ECHILD)
  package static let wouldBlock = Errno(EAGAIN)
  package static let accessDenied = Errno(EACCES)
  package static let noReader = Errno(ENXIO)
  package static let badAddress = Errno(EFAULT)
  package static let invalidArgument = Errno(EINVAL)
  package static let brokenPipe = Errno(EPIPE)
  package static let noSpace = Errno(ENOSPC)
  package static let timedOut = Errno(ETIMEDOUT)
  package static let notSupported = Errno(ENOSYS)

  /// A `/proc` file of a task that ended: gone by name, or gone between open and read. An empty read means the same
  /// and is reported as `noSuchProcess`.
  package var meansTaskGone: Bool { self == .noSuchFile || self == .noSuchProcess }

  package var meansNoDescriptors: Bool { code == EMFILE || code == ENFILE }

  package var meansNotAllowed: Bool { self == .notPermitted || self == .accessDenied }

  /// The C library's text for it.
  package var text: String { unsafe String(cString: strerror(code)) }
}
