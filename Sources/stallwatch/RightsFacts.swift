// What is known of our rights over a process when some of them were refused; gathered here, judged in `Refusal`.

internal import Glibc
internal import Linux
internal import StallCore

struct RightsFacts: Equatable {
  /// What `/proc` says of one side.
  struct Side: Equatable {
    var user: UInt32
    /// Permitted ones of the target, effective ones of ours.
    var capabilities: UInt64 = 0
    var label: ByteString?
  }

  var process: Int32
  var name: ByteString
  var own: Side
  /// Nil if even `status` may not be read.
  var target: Side?
  /// `/proc` does not even show that it is there: proc(5), "hidepid".
  var isHidden = false
  /// What it waits for can be seen, so that only system calls can have been refused.
  var areWaitsSeen = false
  /// Its files in `/proc` belong to root although it does not, or it changed users: prctl(2), PR_SET_DUMPABLE.
  var isProtected = false
  var isDumpingCore = false
  /// 0: nobody.
  var tracer: Int32 = 0
  /// Nil where the kernel has no Yama.
  var yamaScope: Int?
  /// A filter of ours refuses some system calls, seccomp(2).
  var isFiltered = false
  /// Our capabilities count within a user namespace only, user_namespaces(7).
  var isInUserNamespace = false

  var isSomeoneElses: Bool { target.map { $0.user != own.user } ?? true }
  var mayTraceAll: Bool { Capability.systemPtrace.isIn(own.capabilities) }
  /// Some in `/proc/PID` are for the owner alone, before any right to trace is asked for.
  var mayReadFilesOfOthers: Bool {
    Capability.overridePermissions.isIn(own.capabilities) || Capability.readAllFiles.isIn(own.capabilities)
  }
}

extension RightsFacts {
  init(_ process: Int32) {
    let own = try? ProcessStatus(path: "/proc/self/status")
    let target = try? ProcessStatus(path: "/proc/\(process)/status")
    self.process = process
    name =
      (try? readPseudoFile("/proc/\(process)/comm")).map { ByteString($0.dropLast()) } ?? "the process"
    self.own = Side(
      user: own?.userID ?? getuid(), capabilities: own?.effectiveCapabilities ?? 0,
      label: SecurityLabel.own.map { ByteString($0) })
    self.target = target.map {
      Side(
        user: $0.userID ?? 0, capabilities: $0.permittedCapabilities ?? 0,
        label: SecurityLabel.ofProcess(process).map { ByteString($0) })
    }
    isHidden = target == nil && FileOwner.of("/proc/\(process)") == nil
    isProtected = target.map { Self.isProtected(process, $0) } ?? false
    isDumpingCore = target?.isDumpingCore ?? false
    tracer = target?.tracer ?? 0
    yamaScope = Self.yamaScope
    isFiltered = own?.seccompMode == 2
    isInUserNamespace = Self.isInUserNamespace
  }

  private static func isProtected(_ process: Int32, _ target: ProcessStatus) -> Bool {
    if target.userID != target.effectiveUserID || target.userID != target.savedUserID { return true }
    // The directory itself always belongs to the process's user (fs/proc/base.c, `task_dump_owner`).
    guard let owner = FileOwner.of("/proc/\(process)/stat") else { return false }
    return owner != target.effectiveUserID
  }

  /// Documentation/admin-guide/LSM/Yama.rst.
  private static var yamaScope: Int? {
    guard let text = try? readPseudoFile("/proc/sys/kernel/yama/ptrace_scope"), let digit = text.first else {
      return nil
    }
    return Int(digit) - 0x30
  }

  /// The first namespace maps every id to itself.
  static var isInUserNamespace: Bool {
    let text: [UInt8]
    // An empty one, which is read as if we had gone, maps nobody; the first namespace's is not.
    do { text = try readPseudoFile("/proc/self/uid_map") } catch { return error == .noSuchProcess }
    return text.split(whereSeparator: { $0 == 0x20 || $0 == 0x0A }).map {
      String(decoding: $0, as: UTF8.self)
    }
      != ["0", "0", "4294967295"]
  }
}
