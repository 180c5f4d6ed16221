// Programs whose files bear names of any bytes: found, named, and shown without harm.

import FoundationEssentials
import Glibc
import Linux
import TestSupport
import Testing

@Suite(.serialized) struct HostileNamesTests {
  /// Octal, as printf(1) takes it; the kernel prints a newline in `maps` as `\012` and a backslash as it is.
  private static let names: [(octal: String, listed: String)] = [
    (#"my app  dir "#, "my app  dir "), (#"nl\012name"#, #"nl\012name"#), (#"bs\134012name"#, #"bs\012name"#),
    (#"u\377\376 caf\303"#, #"u\xff\xfe caf\xc3"#), (#"\033[2J\033]0;x\007"#, #"\x1b[2J\x1b]0;x\x07"#),
    (#"\342\200\256gnp"#, #"\u{202e}gnp"#), (#"tab\011end"#, #"tab\x09end"#),
  ]

  /// A copy of the test program in a directory of that name, stopped at the end of the test.
  private func start(_ octal: String) throws -> TargetProcess {
    var target = try TargetProcess(
      path: "/bin/sh",
      arguments: [
        "-c",
        """
        d=$(printf '/tmp/stallwatch-test-\(getpid())-names/\(octal)') && mkdir -p "$d" &&
        cp \(builtProduct("TestTarget")) "$d/an app" && exec "$d/an app" pause
        """,
      ])
    #expect(try target.readLine() == "ready")
    return target
  }

  private func removeCopies() {
    _ = try? shell("rm -r /tmp/stallwatch-test-\(getpid())-names")
  }

  @Test(
    "PROC-04, PROC-05, PROC-07: a program in a directory of any name has names and its exact path",
    arguments: names)
  func pathMayHoldAnything(_ name: (octal: String, listed: String)) throws {
    defer { removeCopies() }
    let target = try start(name.octal)
    var dump = try WatchRun(["dump", "--json", "--pid", "\(target.processID)"])
    let record = try dump.next("dump")
    #expect(record.symbols.contains("main"))
    let frames = record["stacks"]?.array.first?.object["frames"]?.array ?? []
    let main = try #require(frames.first { $0.object["symbol"]?.string == "main" }?.object)
    #expect(main["module"]?.string?.hasSuffix("/\(name.listed)/an app") == true)
    // `maps` does not tell a newline from the text that it prints for one.
    guard !name.octal.contains("012") else { return }
    let exact = main["module_bytes"]?.string.flatMap { Data(base64Encoded: $0) }
    let path = try exact.map { Array($0) } ?? Array(#require(main["module"]?.string).utf8)
    #expect(try readLink("/proc/\(target.processID)/exe") == path)
  }

  @Test("OUT-04, PROC-07: no byte of a name reaches the terminal as it is, in any locale", arguments: names)
  func textIsHarmless(_ name: (octal: String, listed: String)) throws {
    defer { removeCopies() }
    let target = try start(name.octal)
    for locale in ["C", "C.UTF-8"] {
      let (output, status) = try shell("LC_ALL=\(locale) $W dump -v --pid \(target.processID) 2>&1")
      #expect(status == .exited(0))
      #expect(output.contains("pause"))
      let harmful = output.unicodeScalars.filter {
        [.control, .format].contains($0.properties.generalCategory) && $0 != "\n" || $0 == "\u{FFFD}"
      }
      #expect(harmful.isEmpty)
    }
  }
}
