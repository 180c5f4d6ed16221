// Which rights this process has from its file and not from whoever started it, and how they are given up.

internal import CLinux
internal import Glibc

/// A file with capabilities hands them to everybody who may execute it. What such a process does for its caller with them,
/// the caller could not do.
package enum OwnRights {
  /// Some rights come from the file, or came from it before they were given up.
  package static var areOfFile: Bool { clinux_is_privileged_by_file() }

  /// Nil if the caller has all our rights as well; else whom he is, by his real ids.
  package static var callerWithFewer: (user: UInt32, group: UInt32)? {
    if clinux_has_only_rights_of_caller() { return nil }
    var caller: (user: UInt32, group: UInt32) = (0, 0)
    unsafe clinux_ids_of_caller(&caller.user, &caller.group)
    return caller
  }

  /// For good, from here on as the caller. Only CAP_SYS_PTRACE stays: it opens every program to everybody, whatever is
  /// done here, and nobody gives it to a file who does not want that. False if they could not be given up.
  package static func giveUpThoseOfFile() -> Bool {
    callerWithFewer == nil || clinux_give_up_rights_of_file(Capability.systemPtrace.mask) == 0
  }

  /// Our file lies where the rights of files do not count, mount(8), "nosuid".
  package static var isOnFileSystemWithoutRights: Bool {
    var facts = statvfs()
    return unsafe statvfs("/proc/self/exe", &facts) != 0 || facts.f_flag & 2 /* ST_NOSUID */ != 0
  }

  /// Of a process that has no more rights than its caller and nothing to hide from him.
  package static func becomeDumpable() { _ = clinux_become_dumpable() }
}
