// `--record`, the report thread's part: writes the looks that it is given, and beside them what it has found out itself.

internal import CommandLineOptions
internal import Glibc
internal import Linux
internal import Recordings
internal import Reports
internal import StallCore

struct RecordingFile: ~Copyable {
  private let file: FileDescriptor
  private let channel: RecordingChannel
  private var facts = FactEncoder()
  /// Of the wall clock over the monotonic one, as last written.
  private var wallOffset: Int64?
  private var lastStack: RecordedStack?
  private var hasBegun = false
  private var hasFailed = false

  private static let leastClockChange: Int64 = 1_000

  /// Opened before anything is watched, so that a mistake is found at once.
  init(_ path: String, _ channel: RecordingChannel) throws(ProgramFailure) {
    self.channel = channel
    do throws(Errno) { file = try FileDescriptor.create(path) } catch {
      throw ProgramFailure(
        code: .wrongUsage, text: "cannot write \(ByteString(path).escaped): \(error.text)",
        next: "another file for --record")
    }
  }

  mutating func begin(_ watch: RecordedWatch) {
    var bytes = RecordingBytes()
    bytes.appendHeader()
    facts.append(watch, to: &bytes)
    hasBegun = true
    write(bytes.bytes)
  }

  /// Writes the looks that have come by now.
  mutating func proceed() {
    guard hasBegun else { return }
    for buffer in channel.take() {
      writeClock()
      write(buffer)
    }
  }

  mutating func add(_ stack: RecordedStack) {
    if let lastStack, lastStack.isSame(as: stack) { return }
    lastStack = stack
    add { $0.append(stack, to: &$1) }
  }

  mutating func add(_ notice: RecordedNotice) { add { $0.append(notice, to: &$1) } }

  mutating func add(_ busy: RecordedBusyThread) { add { $0.append(busy, to: &$1) } }

  mutating func add(_ exit: RecordedExit) { add { $0.append(exit, to: &$1) } }

  mutating func end(_ end: RecordedEnd) {
    proceed()
    add { $0.append(end, to: &$1) }
  }

  private mutating func add(_ append: (inout FactEncoder, inout RecordingBytes) -> Void) {
    var bytes = RecordingBytes()
    append(&facts, &bytes)
    write(bytes.bytes)
  }

  /// A clock that was set, or that runs at another speed.
  private mutating func writeClock() {
    let now = Moment.now
    let offset = now.wall.microseconds - now.monotonic.nanoseconds / 1_000
    if let wallOffset, abs(offset - wallOffset) < Self.leastClockChange { return }
    wallOffset = offset
    var bytes = RecordingBytes()
    bytes.append(RecordedClock(at: now.monotonic, wallMicroseconds: now.wall.microseconds))
    write(bytes.bytes)
  }

  /// What is lost would make the rest wrong: at the first failure the recording ends.
  private mutating func write(_ bytes: [UInt8]) {
    if hasFailed { return }
    do throws(Errno) { try file.write(bytes) } catch {
      hasFailed = true
      Program.complain("cannot write the recording: \(error.text); it ends here, and watching goes on")
    }
  }
}

extension RecordedStack {
  /// Nothing is known of it that was not known before.
  fileprivate func isSame(as other: RecordedStack) -> Bool {
    at == other.at && stack.threadID == other.stack.threadID && stack.frames == other.stack.frames
      && stack.missing == other.stack.missing && cause == other.cause
      && companions.count == other.companions.count
  }
}
