// A program of ours that does nothing, for `stallwatch doctor` to look at.

internal import Glibc
internal import Linux

/// Owns the subject: it ends with this value, or with us.
struct DoctorSubject: ~Copyable {
  /// How it is related to us. The raw value is an argument of its process.
  enum Kind: String {
    case child
    /// Of the same user but not below us, as every program that somebody else has started.
    case orphan
    case ofAnotherUser = "of-another-user"
  }

  /// What makes the program a subject instead; the kind follows.
  static let hiddenArgument = "doctor-subject"
  /// "nobody" on every Linux system (the kernel's overflow id).
  private static let otherUser: UInt32 = 65_534
  private static let patience: Int32 = 2_000

  let processID: Int32
  private let started: ChildProcess
  /// The subject reads from the other end, and ends when this one is closed.
  private let lifeline: FileDescriptor

  init(_ kind: Kind) throws(Errno) {
    let input = try Pipe()
    let output = try Pipe()
    let process = try ChildProcess(
      path: "/proc/self/exe", arguments: [Self.hiddenArgument, kind.rawValue],
      descriptors: [input.readEnd.rawValue, output.writeEnd.rawValue, 2], ownGroup: true)
    processID = try Self.readProcessID(from: output.takeReadEnd())
    started = process
    lifeline = input.takeWriteEnd()
  }

  private static func readProcessID(from output: consuming FileDescriptor) throws(Errno) -> Int32 {
    var entry = pollfd(fd: output.rawValue, events: Int16(POLLIN), revents: 0)
    if try systemCall({ unsafe poll(&entry, 1, patience) }) == 0 { throw .timedOut }
    var line = [UInt8](repeating: 0, count: 32)
    let raw = output.rawValue
    _ = try systemCall { unsafe read(raw, &line, line.count) }
    var position = 0
    guard let id = line.span.decimal(at: &position) else { throw .notPermitted }
    return Int32(truncatingIfNeeded: id)
  }

  /// The whole life of the process.
  static func run(_ kind: Kind) -> Never {
    switch kind {
    // What it has of its file it has given up.
    case .child: OwnRights.becomeDumpable()
    case .orphan:
      let child = try? ChildProcess(
        path: "/proc/self/exe", arguments: [hiddenArgument, Kind.child.rawValue], descriptors: [0, 1, 2],
        ownGroup: true)
      _ = child?.release()
      OwnProcess.endAtOnce()
    case .ofAnotherUser:
      guard setgid(otherUser) == 0, setuid(otherUser) == 0 else { OwnProcess.endAtOnce() }
    }
    try? writeAll(Array("\(getpid())\n".utf8), to: STDOUT_FILENO)
    var byte: UInt8 = 0
    _ = try? systemCall { unsafe read(STDIN_FILENO, &byte, 1) }
    OwnProcess.endAtOnce()
  }
}
