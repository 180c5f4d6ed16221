// The one command that gives the task iterator to everybody who may run this file, where that would work.

internal import Glibc
internal import Linux
internal import StallCore

/// What decides whether capabilities of our file would reach us, capabilities(7) and execve(2).
struct FileCapabilities: Equatable {
  var executable: ByteString
  /// Those that are missing.
  var missing: [Capability]
  var isRoot = false
  /// Its file has rights already.
  var areThere = false
  var isInUserNamespace = false
  /// prctl(2), PR_SET_NO_NEW_PRIVS, or a file system that is mounted with `nosuid`.
  var areIgnored = false
  var bounding: UInt64 = .max
  /// Until Linux 5.19 every call of bpf(2) needed CAP_BPF, also those that read what was loaded.
  var mayReadWithout = true

  private static let needed: [Capability] = [.bpf, .perfmon]

  var wouldHelp: Bool {
    !missing.isEmpty && !isRoot && !areThere && !isInUserNamespace && !areIgnored && mayReadWithout
      && Self.needed.allSatisfy { $0.isIn(bounding) }
  }

  /// What they open stands beside the command: it is for whoever may give them, not for whoever wants them.
  var advice: String? {
    guard wouldHelp else { return nil }
    let lines = [
      "  or: sudo setcap cap_bpf,cap_perfmon=ep \(executable.escaped)",
      "      shows everybody who may run this file the waits and registers of his own programs, whatever",
      "      ptrace_scope says. The kernel decides at each look, by the user of the thread: nothing is shown of",
      "      programs of others, of protected ones (setuid, not dumpable) and of those with capabilities.",
      "      All else, memory too, needs the rights that it needs without.",
    ]
    return lines.joined(separator: "\n") + "\n"
  }
}

extension FileCapabilities {
  /// Nil if it is not known what our file is.
  init?(missing: [Capability]) {
    guard let path = try? readLink("/proc/self/exe") else { return nil }
    executable = ByteString(path)
    self.missing = missing
    let status = try? ProcessStatus(path: "/proc/self/status")
    isRoot = getuid() == 0
    areThere = OwnRights.areOfFile
    isInUserNamespace = RightsFacts.isInUserNamespace
    areIgnored = status?.mayGainPrivileges != true || OwnRights.isOnFileSystemWithoutRights
    bounding = status?.boundingCapabilities ?? 0
    mayReadWithout =
      KernelRelease.current.map { $0 >= KernelRelease(5, 19) } ?? false || Self.isBPFForEverybody
  }

  private static var isBPFForEverybody: Bool {
    (try? readPseudoFile("/proc/sys/kernel/unprivileged_bpf_disabled"))?.first == UInt8(ascii: "0")
  }
}
