// What this process does before it does anything else, whatever its caller left it with.

internal import Glibc
internal import Linux

enum OwnStart {
  /// What we ignore and our caller did not; the programs that we start find it as our caller left it.
  static let ignored = [SIGPIPE, SIGXFSZ].filter { !OwnProcess.ignores($0) }

  /// A closed pipe and a file at its limit are errors of write(2), and children can be waited for.
  static func prepare() {
    for number in ignored { signal(number, SIG_IGN) }
    signal(SIGCHLD, SIG_DFL)
    occupyStandardDescriptors()
  }

  /// If the caller closed one of the three, the next file that is opened would take its number, and reports would be
  /// written into it. What stands there instead fails to be read or written.
  private static func occupyStandardDescriptors() {
    while let placeholder = try? FileDescriptor.resolve(Array("/dev/null".utf8)) {
      guard placeholder.rawValue <= STDERR_FILENO else { return }
      _ = placeholder.release()
    }
  }
}
