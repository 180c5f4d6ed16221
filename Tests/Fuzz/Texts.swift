// Names: made readable, and shown where they can do no harm.

import CommandLineOptions
import Reports
import StallCore
import Symbols
import TestSupport

extension FuzzedParser {
  static var texts: [FuzzedParser] {
    [
      FuzzedParser("demangle-swift", seeds: RealNames.swift, run: demangle),
      FuzzedParser("demangle-cpp", seeds: RealNames.cpp, run: demangle),
      FuzzedParser("demangle-rust", texts: rustNames, run: demangle),
      FuzzedParser("escape", texts: hostileTexts) { bytes in
        let text = ByteString(bytes).escaped
        expect(
          text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F },
          "a control character is left")
      },
      FuzzedParser("loop-rules", texts: ruleTexts, run: readRules),
      FuzzedParser("json", texts: hostileTexts, run: writeRecord),
      FuzzedParser(
        "command-line",
        texts: [
          "--pid 1 -t 500ms -d 1m30s", "run -q -- a b", "dump -p 7 --max-frames 3", "-t1.5s --json -o fd:3 9",
        ]
      ) { bytes in
        let words = bytes.split(separator: 0x20).map { ByteString($0) }
        do throws(RefusedCommandLine) { _ = try Invocation(words) } catch { _ = error.reason.text }
      },
    ]
  }

  private static let rustNames = [
    "_RINvC1a1fFG0_RL0_hEuE", "_RMC0INtB0_8UnsignedKhb_E", "_RC1aDG_NtB2_1bEL_C1c",
    "_RNvNtCs1234_7mycrate3foo3bar", "_RINvCs1_1a1bINtB4_1cmENvB2_1dE",
    "_ZN4core3ptr13drop_in_place17h0123456789abcdefE",
    "_RNvXs_CsaDEF_7mycrateNtB4_3FooNtB4_3Bar3baz", "_RNCNvC1a4main0B3_",
  ]
  private static let hostileTexts = [
    "worker", "a) R 1 2", "\u{1B}]0;x\u{07}", "\u{202E}\u{85}", "caf\u{E9}", "line\nbreak\\x41",
    "\u{1F600}\u{E000}",
  ]

  private static let ruleTexts = [
    "[x] ping: eventfd\nloop *run*\npart f in lib*.so\n", "uv_run", "[y]\nnested a.constprop.0 # \ncall *\n",
  ]

  /// The same bytes as a table and as a name that is looked up, in that table and in ours.
  private static func readRules(_ bytes: [UInt8]) {
    var frame = Frame(programCounter: 1, trust: .exact)
    (frame.symbol, frame.aliases) = (ByteString(bytes), [ByteString(bytes.reversed())])
    frame.module = ModuleReference(path: ByteString(bytes), buildID: nil)
    let rules = (try? LoopRules(parsing: bytes)) ?? .builtIn
    let reading = rules.reading(of: Array(repeating: frame, count: 3))
    expect(reading.nesting <= 4, "more levels than frames")
    _ = HomeSelector(String(decoding: bytes, as: UTF8.self))
    _ = HomeSelector.likely(for: String(decoding: bytes, as: UTF8.self))
  }

  private static func demangle(_ bytes: [UInt8]) {
    let name = SymbolName(raw: ByteString(bytes))
    let bounds = Demangler.maximumOutput + bytes.count + 16
    expect(name.display.bytes.count <= bounds, "the readable name is too long")
  }

  /// The same bytes in every place of a stack, in both formats.
  private static func writeRecord(_ bytes: [UInt8]) {
    let name = ByteString(bytes)
    var frame = Frame(programCounter: 1, trust: .exact)
    (frame.symbol, frame.rawSymbol, frame.file) = (name, name, name)
    frame.module = ModuleReference(path: name, buildID: nil)
    let stack = Stack(
      threadID: 1, threadName: name, role: .main, way: .ptrace, stoppedFor: .zero, end: .root, frames: [frame]
    )
    let record = Record(
      origin: RecordOrigin(watchID: "1", host: name, processID: 1), sequence: 1,
      moment: Moment(wall: WallTime(microseconds: 0), monotonic: Instant(nanoseconds: 0)),
      body: .dump(ThreadDumpRecord(stack)))
    let line = JSONFormat().render(record)
    expect(line.dropLast().allSatisfy { $0 >= 0x20 }, "the record is not one line")
    expect(String(validating: line, as: UTF8.self) != nil, "the record is no UTF-8")
    var text = TextFormat(style: TextStyle(), localTime: { CivilTime(utc: $0) })
    let shown = text.render(record)
    expect(shown.allSatisfy { $0 >= 0x20 || $0 == 0x0A }, "a control character reaches the terminal")
  }
}
