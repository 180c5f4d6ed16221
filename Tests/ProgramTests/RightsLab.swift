// Programs of different users, and a watcher whose rights are taken away in one way or another.

import Glibc
import Linux
import TestSupport
import Testing

/// Who somebody is, as words before a command.
enum Person: String, CustomTestStringConvertible {
  case root = ""
  case rootWithoutCapabilities = "setpriv --bounding-set -all --inh-caps -all"
  case nobody = "setpriv --reuid 65534 --regid 65534 --clear-groups"
  case somebody = "setpriv --reuid 65533 --regid 65533 --clear-groups"
  /// Root within a user namespace of his own.
  case rootOfNamespace = "setpriv --reuid 65534 --regid 65534 --clear-groups unshare --user --map-root-user"
  case rootWithoutBPF = "setpriv --bounding-set -bpf,-sys_admin"
  case rootWithoutPerfmon = "setpriv --bounding-set -perfmon,-sys_admin"
  case rootWithIterator = "setpriv --bounding-set -all,+bpf,+perfmon"
  case rootWithIteratorAndMemory = "setpriv --bounding-set -all,+bpf,+perfmon,+sys_ptrace,+dac_read_search"
  case rootWithoutFilesOfOthers = "setpriv --bounding-set -all,+bpf,+perfmon,+sys_ptrace"
  case nobodyWithIterator =
    "setpriv --reuid 65534 --clear-groups --inh-caps +bpf,+perfmon --ambient-caps +bpf,+perfmon"

  var testDescription: String { "\(self)" }
}

/// Owns copies of the programs in a directory that everybody can reach.
struct RightsLab: ~Copyable {
  let directory: String

  /// All of it needs root, and mounts of its own.
  static let isPossible =
    getuid() == 0
    && (try? shell("unshare -m mount -t tmpfs tmpfs /proc/sys/kernel && setpriv --version"))?.status
      == .exited(0)

  init() throws {
    directory = "/tmp/stallwatch-test-rights-\(getpid())-\(UInt32.random(in: 0 ... .max))"
    let products = ["stallwatch", "TestTarget", "TestSandbox"].map(builtProduct).joined(separator: " ")
    let made = "mkdir -m 755 \(directory) && cp \(products) \(directory)"
    guard try shell(made).status == .exited(0) else { throw Errno.inputOutput }
  }

  deinit { _ = try? shell("rm -r \(directory)") }

  var program: String { directory + "/stallwatch" }
  var targetProgram: String { directory + "/TestTarget" }

  /// Copies of the two that look, which everybody may run with CAP_BPF and CAP_PERFMON of their files.
  func giveFilesCapabilities() throws {
    guard try shell("\(targetProgram) give-capabilities \(program) \(reader)").status == .exited(0) else {
      throw Errno.notPermitted
    }
  }

  /// Reads the task iterator as fast as it can; see its source for the rest.
  var reader: String { directory + "/TestSandbox" }
  /// A copy of the target's program that makes everybody root who runs it.
  func makeSetuidProgram() throws -> String {
    let path = directory + "/setuid"
    guard try shell("cp \(targetProgram) \(path) && chmod u+s \(path)").status == .exited(0) else {
      throw Errno.notPermitted
    }
    return path
  }

  /// Ready when it returns.
  func start(_ target: String, as person: Person) throws -> TargetProcess {
    var process = try TargetProcess(
      path: "/bin/sh", arguments: ["-c", "exec \(person.rawValue) \(targetProgram) \(target)"])
    guard try process.readLine() == "ready" else { throw Errno.noChildProcess }
    return process
  }

  /// The machine's own may be mounted with hidepid.
  static let openProc = "mount -t proc proc /proc"

  /// `surroundings` is done as root in a mount namespace of its own; `launcher` starts the program.
  func command(
    _ arguments: String, as person: Person, surroundings: [String] = [], launcher: String = ""
  ) -> String {
    let line = "exec \(person.rawValue) \(launcher) \(program) \(arguments)"
    if person == .root, surroundings.isEmpty { return line }
    return "exec unshare -m sh -c '\(([Self.openProc] + surroundings + [line]).joined(separator: " && "))'"
  }

  /// Only what a look needs of that directory is there.
  static func yama(_ scope: Int, hidingCallsOf process: Int32, in lab: borrowing RightsLab) -> [String] {
    let kernel = "/proc/sys/kernel"
    return [
      "mount -t tmpfs tmpfs \(kernel)", "mkdir \(kernel)/yama", "echo \(scope) > \(kernel)/yama/ptrace_scope",
      "echo here > \(kernel)/hostname",
    ] + hiding(["task/\(process)/syscall"], of: process, in: lab)
  }

  /// Files of a process that nobody but root may read.
  static func hiding(_ files: [String], of process: Int32, in lab: borrowing RightsLab) -> [String] {
    let nothing = lab.directory + "/nothing"
    return ["touch \(nothing)", "chmod 000 \(nothing)"]
      + files.map { "mount --bind \(nothing) /proc/\(process)/\($0)" }
  }
}

extension [String: JSONValue] {
  /// Of an attach record: everything that is missing, in one text.
  var missing: String {
    (self["missing"]?.array ?? []).map { item in
      "\(item.object["what"]?.string ?? ""): \(item.object["why"]?.string ?? "")"
    }.joined(separator: "; ")
  }

  /// Without the task iterator, which ordinary users never have.
  var missingBesidesIterator: [JSONValue] {
    (self["missing"]?.array ?? []).filter {
      $0.object["what"]?.string?.hasPrefix("the task iterator") != true
    }
  }

  /// Why the first stack is not there, if it is not.
  var missingStack: String? { self["stacks"]?.array.first?.object["missing"]?.string }
}
