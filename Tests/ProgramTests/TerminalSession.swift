// A terminal of its own for a program in a test, with a test that types and reads.

import Glibc
import Linux
import TestSupport

/// The program leads a session whose terminal this is; `hangUp`, or the end of the value, takes the terminal away.
struct TerminalSession: ~Copyable {
  private let child: ChildProcess
  private var keyboard: FileDescriptor
  private let screen: FileDescriptor
  /// What was shown and not waited for yet.
  private var shown = ""

  init(_ command: [String]) throws {
    let typed = try Pipe()
    let output = try Pipe()
    let child = try ChildProcess(
      path: builtProduct("TestTarget"), arguments: ["terminal"] + command,
      descriptors: [typed.readEnd.rawValue, output.writeEnd.rawValue, 2], ownGroup: false)
    let keyboard = try FileDescriptor.duplicate(typed.writeEnd.rawValue)
    self.child = child
    self.keyboard = keyboard
    screen = output.takeReadEnd()
  }

  /// A shell with job control that tells of its jobs at once.
  static func shell() throws -> TerminalSession {
    var session = try TerminalSession(["/bin/bash", "--norc", "--noprofile", "-i"])
    try session.type("PS1='@ '; set -b; W=\(builtProduct("stallwatch")); echo is-${W:+up}")
    try session.wait(for: "is-up")
    try session.waitForPrompt()
    return session
  }

  /// A line, or one key if it is a control character.
  func type(_ text: String) throws {
    let isKey = text.utf8.count == 1 && text.utf8.first! < 32
    try keyboard.write(Array((isKey ? text : text + "\n").utf8))
  }

  /// What is typed before is echoed twice, or taken by the program that is still there.
  mutating func waitForPrompt() throws { try wait(for: "@ ") }

  /// Reads until the text has come, counted from the last wait; ten seconds at most.
  mutating func wait(for text: String) throws {
    while true {
      if let range = shown.firstRange(of: text) {
        shown = String(shown[range.upperBound...])
        return
      }
      try read()
    }
  }

  /// To be asked before anything is waited for.
  mutating func leader() throws -> Int32 { try Int32(number(after: "leader ")) ?? 0 }

  /// Digits, after waiting for what stands before them and for what follows.
  mutating func number(after text: String) throws -> String {
    try wait(for: text)
    while shown.allSatisfy(\.isNumber) { try read() }
    return String(shown.prefix { $0.isNumber })
  }

  private mutating func read() throws {
    var poll = PollSet([screen.rawValue])
    try poll.wait(timeoutMilliseconds: 10_000)
    guard poll.isReady(0) else { throw Errno.timedOut }
    var chunk = [UInt8](repeating: 0, count: 4096)
    let descriptor = screen.rawValue
    let count = try systemCall { unsafe Glibc.read(descriptor, &chunk, 4096) }
    if count == 0 { throw Errno.brokenPipe }
    shown += String(decoding: chunk[..<count], as: UTF8.self)
  }

  /// Takes the terminal away, and tells how the program ended: its status, or 128 and the signal.
  mutating func hangUp() throws -> Int? {
    keyboard = try FileDescriptor.open("/dev/null")
    return try Int(number(after: "\nended "))
  }
}
