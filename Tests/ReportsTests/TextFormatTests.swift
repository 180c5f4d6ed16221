// What people see.

import StallCore
import Testing

@testable import Reports

/// Renders in a zone one hour east of UTC.
private func text(_ records: [Record], _ style: TextStyle) -> [UInt8] {
  var format = TextFormat(style: style) { CivilTime(utc: $0 + 3_600) }
  return records.flatMap { format.render($0) }
}

@Suite struct TextFormatTests {
  @Test(
    "JIT-06: reports look as expected, with one line for a run of generated code and a hint how to get names")
  func looksAsExpected() throws {
    try expect(text(ordinaryWatch, TextStyle()), isFile: "watch.txt")
    try expect(text(quietWatch, TextStyle()), isFile: "watch-without-stalls.txt")
    try expect(text(dumpedThreads, TextStyle()), isFile: "dump.txt")
    try expect(text(dumpedCrowd, TextStyle()), isFile: "dump-crowd.txt")
    try expect(text(ordinaryWatch, TextStyle(detail: .everything)), isFile: "watch-verbose.txt")
    try expect(text(ordinaryWatch, TextStyle(detail: .reportsOnly)), isFile: "watch-quiet.txt")
    try expect(text(ordinaryWatch, TextStyle(width: 60)), isFile: "watch-narrow.txt")
    try expect(text(ordinaryWatch, TextStyle(palette: .colored)), isFile: "watch-colored.txt")
    try expect(text(hostileWatch, TextStyle(detail: .everything)), isFile: "hostile.txt")
  }

  @Test func coloursAddNothingButColours() {
    let colored = String(decoding: text(ordinaryWatch, TextStyle(palette: .colored)), as: UTF8.self)
    let plain = String(decoding: text(ordinaryWatch, TextStyle()), as: UTF8.self)
    #expect(colored.replacing(/\u{1B}\[[0-9;]*m/, with: "") == plain)
  }

  @Test(
    "OUT-04: hostile bytes never come through in text",
    arguments: [TextDetail.reportsOnly, .normal, .everything])
  func hostileBytesNeverComeThrough(detail: TextDetail) {
    let output = String(decoding: text(hostileWatch, TextStyle(detail: detail)), as: UTF8.self)
    expectHarmless(output)
  }

  @Test func interpreterIsSpokenOfOnce() {
    let interpreted = stack([
      frame(0x7F00_0000_1000, "_PyEval_EvalFrameDefault", "/usr/lib/libpython3.11.so.1.0")
    ])
    var other = interpreted
    other.frames.append(frame(0x7F00_0000_2000, "_PyEval_EvalFrameDefault", "/usr/lib/libpython3.11.so.1.0"))
    let twice = dump([interpreted, other])
    let output = String(decoding: text(twice, TextStyle()), as: UTF8.self)
    #expect(output.split(separator: "Python functions are not shown").count == 2)
    let verbose = String(decoding: text(twice, TextStyle(detail: .everything)), as: UTF8.self)
    #expect(!verbose.contains("are not shown"))
  }

  @Test func withEvidenceEveryThreadIsShownByItself() {
    let verbose = String(decoding: text(dumpedCrowd, TextStyle(detail: .everything)), as: UTF8.self)
    #expect(verbose.ranges(of: "thread 4300 ").count == 1 && verbose.ranges(of: "thread 4304 ").count == 1)
    #expect(!verbose.contains("like this"))
  }

  /// Of ten thousand different stacks no more are held back than memory allows, and none is lost.
  @Test func whatADumpHoldsBackIsBounded() {
    var format = TextFormat(style: TextStyle())
    let deepStacks = (0..<2_000).map { number in
      stack((0..<64).map { frame(UInt64(number) << 16 + $0, "deep", "/opt/viewer/bin/viewer") })
    }
    let parts = dump(deepStacks).map { format.render($0) }
    #expect(parts.count { !$0.isEmpty } > 5)
    let shown = parts.map { String(decoding: $0, as: UTF8.self).ranges(of: "thread 4242").count }
    #expect(shown.reduce(0, +) == 2_000)
  }

  @Test func framesFitTheWidth() {
    let lines = String(decoding: text(ordinaryWatch, TextStyle(width: 60)), as: UTF8.self).split(
      separator: "\n")
    let frames = lines.filter { $0.wholeMatch(of: #/ +[0-9]+ .*/#) != nil }
    #expect(frames.count > 20)
    #expect(frames.allSatisfy { $0.count <= 60 })
  }

  @Test(arguments: [
    (Duration.zero, "0 µs"), (.nanoseconds(999_499), "999 µs"), (.nanoseconds(999_500), "1 ms"),
    (.microseconds(999_499), "999 ms"), (.microseconds(999_500), "1 s"), (.milliseconds(1_331), "1.331 s"),
    (.milliseconds(3_400), "3.4 s"), (.microseconds(59_999_600), "1 min"), (.seconds(252), "4 min 12 s"),
    (.seconds(7_500), "2 h 5 min"), (.seconds(3_599.7), "1 h"),
  ])
  func durationsAreSpoken(duration: Duration, text: String) {
    #expect(duration.spoken == text)
  }

  @Test(arguments: [
    (0.0, "0 %"), (0.04, "0.04 %"), (0.4, "0.4 %"), (99.62, "99.6 %"), (99.99, "99.9 %"), (100, "100 %"),
    (400.26, "400.3 %"),
  ])
  func sharesAreSpoken(value: Double, text: String) {
    #expect(Percent(value).spoken == text)
  }
}

/// No control character but the newline, and nothing that formats or separates invisibly.
func expectHarmless(_ output: String, sourceLocation: SourceLocation = #_sourceLocation) {
  for scalar in output.unicodeScalars where scalar != "\n" {
    let category = scalar.properties.generalCategory
    let isHarmful = [.control, .format, .lineSeparator, .paragraphSeparator].contains(category)
    #expect(!isHarmful, "U+\(String(scalar.value, radix: 16))", sourceLocation: sourceLocation)
  }
}
