// The one place where a refusal becomes its remedy: why a process cannot be watched, and what to do next.

internal import CommandLineOptions
internal import Glibc
internal import Linux
internal import StallCore

enum Refusal {
  static func noProcess(_ id: Int32) -> ProgramFailure {
    ProgramFailure(
      code: .noSuchProcess, text: "there is no process \(id)",
      next: "`pgrep NAME` prints the ids of a program")
  }

  static func hasEnded(_ id: Int32, _ name: ByteString) -> ProgramFailure {
    ProgramFailure(
      code: .noSuchProcess,
      text: "\(name.escaped) (pid \(id)) has ended; only its status is left, for its parent to take")
  }

  static func isThread(_ id: Int32, of process: Int32) -> ProgramFailure {
    let name =
      (try? readPseudoFile("/proc/\(process)/comm")).map { ByteString($0.dropLast()).escaped } ?? "process"
    return ProgramFailure(
      code: .wrongUsage, text: "\(id) is a thread of \(name) (\(process)), not a process",
      next: "stallwatch --pid \(process)")
  }

  static func isKernelThread(_ id: Int32, _ name: ByteString) -> ProgramFailure {
    ProgramFailure(
      code: .notPermitted,
      text: "\(id) (\(name.escaped)) is a thread of the kernel: it has no loop and no stack to watch",
      next: "the id of a program")
  }

  /// Waits and stacks need the right to attach, ptrace(2), "Ptrace access mode checking".
  static func notPermitted(_ id: Int32, _ error: Errno) -> ProgramFailure {
    let name =
      (try? readPseudoFile("/proc/\(id)/comm")).map { ByteString($0.dropLast()).escaped } ?? "the process"
    guard error.meansNotAllowed else {
      let next = error.meansNoDescriptors ? "ulimit -n 1024" : nil
      return ProgramFailure(
        code: .internalFailure, text: "\(name) (pid \(id)) cannot be watched: \(error.text)", next: next)
    }
    let text = "\(name) (pid \(id)) may not be looked into (\(error.text))"
    let (why, next) = reason(id)
    return ProgramFailure(code: .notPermitted, text: text + ": " + why, next: next)
  }

  private static func reason(_ id: Int32) -> (why: String, next: String) {
    let retry = "sudo stallwatch --pid \(id)"
    let own = try? ProcessStatus(path: "/proc/self/status")
    let target = try? ProcessStatus(path: "/proc/\(id)/status")
    if own?.userID == 0 {
      return (
        "you are root without CAP_SYS_PTRACE", "give it CAP_SYS_PTRACE (docker run --cap-add=SYS_PTRACE)"
      )
    }
    if let tracer = target?.tracer, tracer != 0 {
      return ("process \(tracer) is tracing it", "end that debugger, or \(retry)")
    }
    if let own = own?.userID, let other = target?.userID, own != other {
      return ("it belongs to user \(other) and you are user \(own)", retry)
    }
    switch yamaScope {
    case 1:
      return (
        "kernel.yama.ptrace_scope is 1, which allows children only", "stallwatch run -- COMMAND, or \(retry)"
      )
    case 2: return ("kernel.yama.ptrace_scope is 2, which needs CAP_SYS_PTRACE", retry)
    case 3:
      return (
        "kernel.yama.ptrace_scope is 3: nobody can attach until the next boot",
        "boot with another ptrace_scope"
      )
    default: return ("it is protected (setuid, file capabilities, or not dumpable)", retry)
    }
  }

  /// Documentation/admin-guide/LSM/Yama.rst; nil where the kernel has no Yama.
  private static var yamaScope: Int? {
    guard let text = try? readPseudoFile("/proc/sys/kernel/yama/ptrace_scope"), let digit = text.first else {
      return nil
    }
    return Int(digit) - 0x30
  }
}
