// The capabilities that matter here, capabilities(7).

package enum Capability: UInt64, Sendable {
  /// May open files whatever their permissions say.
  case overridePermissions = 1
  /// The same for reading.
  case readAllFiles = 2
  /// May look into the processes of others and trace them.
  case systemPtrace = 19
  /// Contains many others, among them the next two.
  case systemAdministration = 21
  /// May sample every thread of the machine, and read the memory of the kernel.
  case perfmon = 38
  /// May load BPF programs.
  case bpf = 39

  /// As capabilities(7) and docker call it.
  package var name: String {
    switch self {
    case .overridePermissions: "DAC_OVERRIDE"
    case .readAllFiles: "DAC_READ_SEARCH"
    case .systemPtrace: "SYS_PTRACE"
    case .systemAdministration: "SYS_ADMIN"
    case .perfmon: "PERFMON"
    case .bpf: "BPF"
    }
  }

  package var mask: UInt64 { 1 << rawValue }

  package func isIn(_ mask: UInt64) -> Bool { mask & self.mask != 0 }
}
