// A running program for a test: started, ready, and killed when the test is over.

internal import CLinux
internal import Glibc
package import Linux

/// Owns one run of `TestTarget` (or of another program), from its ready line to the end of the test.
package struct TargetProcess: ~Copyable {
  private var child: ChildProcess
  private let output: FileDescriptor
  private var unread: [UInt8] = []

  /// Starts `TestTarget PROGRAM [ARGUMENT…]` and waits for its line `ready`.
  package static func start(_ program: String, _ arguments: String...) throws(Errno) -> TargetProcess {
    var target = try TargetProcess(path: builtProduct("TestTarget"), arguments: [program] + arguments)
    guard try target.readLine() == "ready" else { throw .noChildProcess }
    return target
  }

  /// Starts any program; it inherits our standard error, has no input, and its output is read with `readLine`.
  package init(path: String, arguments: [String]) throws(Errno) {
    let pipe = try Pipe()
    child = try ChildProcess(
      path: path, arguments: arguments, descriptors: [-1, pipe.writeEnd.rawValue, 2], ownGroup: false)
    output = pipe.takeReadEnd()
  }

  package var processID: Int32 { child.processID }

  package func signal(_ number: Int32) { child.signal(number) }

  /// The next line of its output, without the line end. Fails with `timedOut` after ten seconds, and with
  /// `brokenPipe` when the program has ended.
  package mutating func readLine() throws(Errno) -> String {
    while true {
      if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
        defer { unread.removeSubrange(...end) }
        return String(decoding: unread[..<end], as: UTF8.self)
      }
      let descriptor = output.rawValue
      if try systemCall({ clinux_wait_readable(descriptor, 10_000_000_000) }) == 0 { throw .timedOut }
      var chunk = [UInt8](repeating: 0, count: 4096)
      let count = try systemCall { unsafe read(descriptor, &chunk, 4096) }
      if count == 0 { throw .brokenPipe }
      unread += chunk[..<count]
    }
  }

  /// True if `readLine` need not wait (for a whole line, if the program writes whole lines).
  package func hasOutput() throws(Errno) -> Bool {
    if !unread.isEmpty { return true }
    let descriptor = output.rawValue
    return try systemCall { clinux_wait_readable(descriptor, 0) } > 0
  }

  /// How it ended, waiting for that; killed if it takes longer than ten seconds.
  package mutating func waitForExit() throws(Errno) -> ExitStatus {
    var ending: ExitStatus?
    if try !eventually({ () throws(Errno) in
      ending = try child.wait(block: false)
      return ending != nil
    }) {
      throw .timedOut
    }
    return ending ?? .exited(-1)
  }

  /// True while the program has not ended.
  package mutating func isAlive() -> Bool { (try? child.wait(block: false)) == .some(nil) }
}

/// Asks again and again, for at most ten seconds, until the condition holds; false if it never did.
package func eventually<Failure: Error>(_ condition: () throws(Failure) -> Bool) throws(Failure) -> Bool {
  for _ in 0..<10_000 {
    if try condition() { return true }
    usleep(1_000)
  }
  return false
}

/// The path of an executable of this package: it lies beside the test bundle.
package func builtProduct(_ name: String) -> String {
  var buffer = [UInt8](repeating: 0, count: 4096)
  let count = unsafe buffer.withUnsafeMutableBytes {
    unsafe readlink("/proc/self/exe", $0.bindMemory(to: CChar.self).baseAddress!, $0.count)
  }
  let path = buffer[..<max(count, 0)]
  let directoryEnd = path.lastIndex(of: UInt8(ascii: "/")) ?? 0
  return String(decoding: path[..<directoryEnd], as: UTF8.self) + "/" + name
}
