// `/proc/PID/status`, the lines that are used, proc_pid_status(5).

package struct ProcessStatus: Sendable {
  package var threadGroup: Int32?
  package var tracer: Int32?
  /// The real user id.
  package var userID: UInt32?
  package var effectiveUserID: UInt32?
  package var savedUserID: UInt32?
  /// The thread's and the process's id in the innermost of the nested pid namespaces.
  package var innermostID: Int32?
  package var innermostGroup: Int32?
  package var voluntarySwitches: UInt64?
  package var isDumpingCore = false
  package var permittedCapabilities: UInt64?
  package var effectiveCapabilities: UInt64?
  package var boundingCapabilities: UInt64?
  package var seccompMode: UInt64?
  /// A program that it executes gets the rights of its file, prctl(2), PR_SET_NO_NEW_PRIVS.
  package var mayGainPrivileges: Bool?

  /// The name in the first line is escaped by the kernel and cannot begin a line of its own.
  package init(_ text: Span<UInt8>) {
    threadGroup = Self.number(text, "Tgid:").map(Int32.init(truncatingIfNeeded:))
    tracer = Self.number(text, "TracerPid:").map(Int32.init(truncatingIfNeeded:))
    userID = Self.number(text, "Uid:").map(UInt32.init(truncatingIfNeeded:))
    effectiveUserID = Self.number(text, "Uid:", after: 1).map(UInt32.init(truncatingIfNeeded:))
    savedUserID = Self.number(text, "Uid:", after: 2).map(UInt32.init(truncatingIfNeeded:))
    innermostGroup = Self.lastNumber(text, "NStgid:").map(Int32.init(truncatingIfNeeded:))
    innermostID = Self.lastNumber(text, "NSpid:").map(Int32.init(truncatingIfNeeded:))
    voluntarySwitches = Self.number(text, "voluntary_ctxt_switches:")
    isDumpingCore = Self.number(text, "CoreDumping:") == 1
    seccompMode = Self.number(text, "Seccomp:")
    permittedCapabilities = Self.mask(text, "CapPrm:")
    effectiveCapabilities = Self.mask(text, "CapEff:")
    boundingCapabilities = Self.mask(text, "CapBnd:")
    mayGainPrivileges = Self.number(text, "NoNewPrivs:").map { $0 == 0 }
  }

  /// Reads the file of a process or thread once.
  package init(path: String) throws(Errno) {
    let bytes = try readPseudoFile(path)
    self.init(bytes.span)
  }

  /// The number behind the key, or the one after so many others.
  private static func number(_ text: Span<UInt8>, _ key: StaticString, after others: Int = 0) -> UInt64? {
    guard var position = text.endOfKey(key, from: 0) else { return nil }
    for _ in 0..<others {
      text.skipBlanks(at: &position)
      guard text.decimal(at: &position) != nil else { return nil }
    }
    text.skipBlanks(at: &position)
    return text.decimal(at: &position)
  }

  private static func mask(_ text: Span<UInt8>, _ key: StaticString) -> UInt64? {
    guard var position = text.endOfKey(key, from: 0) else { return nil }
    text.skipBlanks(at: &position)
    return text.hexadecimal(at: &position)
  }

  private static func lastNumber(_ text: Span<UInt8>, _ key: StaticString) -> UInt64? {
    guard var position = text.endOfKey(key, from: 0) else { return nil }
    var last: UInt64?
    while true {
      text.skipBlanks(at: &position)
      guard let value = text.decimal(at: &position) else { return last }
      last = value
    }
  }
}
