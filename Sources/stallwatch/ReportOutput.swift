// Where the reports go: standard output or error, a descriptor, or a file that can be opened anew.

internal import CommandLineOptions
internal import Glibc
internal import Linux

/// One record, one write. A full disk is told once and does not end the watch; a reader that has gone does.
struct ReportOutput: ~Copyable {
  enum Failure: Error {
    /// The other end of the pipe was closed.
    case readerGone
    /// The first failure since the last success; `text` is for a person.
    case cannotWrite(String)
    /// As before.
    case stillCannotWrite
  }

  private enum Sink: ~Copyable {
    case borrowed(Int32)
    case owned(FileDescriptor)
  }

  private var sink: Sink
  /// Set for files, which can be opened anew.
  private let path: String?
  private var isFailing = false
  /// The last bytes that could be written are not the end of a line.
  private var isCutOff = false
  private var lostRecords = 0
  /// Text for a terminal that a full-screen program is using, until it no longer does.
  private var held: [UInt8] = []
  private let holdsWhileRaw: Bool
  /// Lines for standard error, held for the same reason.
  private var heldRemarks: [UInt8] = []
  private let holdsRemarks: Bool

  private static let mostHeldBytes = 1 << 20

  /// Opened before anything is watched, so that a mistake is found at once.
  init(
    _ destination: OutputDestination, standard: Int32, holdsWhileRaw: Bool = false,
    keepsContents: Bool = false
  ) throws(ProgramFailure) {
    holdsRemarks = holdsWhileRaw
    self.holdsWhileRaw = holdsWhileRaw && destination == .automatic
    path = if case .file(let name) = destination { name } else { nil }
    switch destination {
    case .automatic: sink = .borrowed(standard)
    case .standardOutput: sink = .borrowed(STDOUT_FILENO)
    case .descriptor(let number):
      guard fcntl(number, F_GETFL) >= 0 else {
        throw ProgramFailure(
          code: .wrongUsage, text: "descriptor \(number) is not open",
          next: "stallwatch … -o fd:3 3>stalls.jsonl")
      }
      sink = .borrowed(number)
    case .file(let name):
      do throws(Errno) { sink = .owned(try FileDescriptor.create(name, keepsContents: keepsContents)) } catch
      {
        throw ProgramFailure(
          code: .wrongUsage, text: "cannot write \(name): \(error.text)",
          next: error == .noReader ? "start the reader of the pipe first" : "another file for -o")
      }
    }
  }

  var descriptor: Int32 {
    switch sink {
    case .borrowed(let number): number
    case .owned(let file): file.rawValue
    }
  }

  var terminal: Terminal? { Terminal(descriptor) }

  /// After SIGHUP: the file was moved away, go on with a new one of its name. If it was not moved, go on with it.
  mutating func reopen() {
    guard let path, let file = try? FileDescriptor.create(path, keepsContents: true) else { return }
    sink = .owned(file)
  }

  mutating func write(_ bytes: [UInt8]) throws(Failure) {
    if isTerminalRaw {
      if held.count + bytes.count <= Self.mostHeldBytes { held += bytes } else { lostRecords += 1 }
      return
    }
    // After a record that was cut off, the next one begins on a line of its own.
    let all = (isCutOff ? [UInt8(ascii: "\n")] : []) + held + bytes
    held = []
    var done = 0
    do throws(Errno) {
      try writeAll(all, to: descriptor, done: &done)
      (isFailing, isCutOff) = (false, false)
    } catch {
      if done > 0 { isCutOff = all[done - 1] != UInt8(ascii: "\n") }
      if error == .brokenPipe { throw .readerGone }
      lostRecords += 1
      defer { isFailing = true }
      throw isFailing ? .stillCannotWrite : .cannotWrite(error.text)
    }
  }

  /// A line for people beside the reports; nobody can be told if that fails.
  mutating func remark(_ text: String) {
    if heldRemarks.count < Self.mostHeldBytes { heldRemarks += Array("\(text)\n".utf8) }
    if holdsRemarks, Terminal(STDERR_FILENO)?.isRaw ?? false { return }
    try? writeAll(heldRemarks, to: STDERR_FILENO)
    heldRemarks = []
  }

  /// What was held back, whatever the terminal is used for.
  mutating func flush() {
    try? writeAll(held, to: descriptor)
    try? writeAll(heldRemarks, to: STDERR_FILENO)
    (held, heldRemarks) = ([], [])
  }

  private var isTerminalRaw: Bool { holdsWhileRaw && terminal?.isRaw ?? false }

  /// The records lost since the last call.
  mutating func takeLostRecords() -> Int {
    defer { lostRecords = 0 }
    return lostRecords
  }
}
