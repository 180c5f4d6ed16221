// `/proc/PID/task/TID/stat`: one record (not one line) of a thread, proc_pid_stat(5).

package struct ThreadStat: Sendable, Equatable {
  /// Where the name stands in the text: any bytes but NUL, at most 15.
  package var name: Range<Int>
  package var state: UInt8
  package var parent: Int32
  package var processGroup: Int32
  package var session: Int32
  /// Of its controlling terminal; 0: it has none.
  package var terminal: UInt64
  /// The process group that its terminal listens to.
  package var foregroundGroup: Int32
  package var flags: UInt64
  package var majorFaults: UInt64
  package var userTicks: UInt64
  package var systemTicks: UInt64
  package var threads: Int
  /// In clock ticks since boot: with the id, the identity of a task.
  package var startTicks: UInt64
  /// Where the program's code and first stack lie: another value means that the process runs another program. Zeros
  /// to those who may not look into it.
  package var image: ImageMark
  /// The CPU it last ran on.
  package var processor: Int32

  /// PF_KTHREAD (include/linux/sched.h).
  package var isKernelThread: Bool { flags & 0x0020_0000 != 0 }

  /// Another job has the foreground of its terminal. Zero is a group of another pid namespace.
  package var isInBackground: Bool {
    terminal != 0 && foregroundGroup > 0 && foregroundGroup != processGroup
  }

  /// Z or X, proc_pid_stat(5).
  package var hasEnded: Bool { state == UInt8(ascii: "Z") || state == UInt8(ascii: "X") }

  /// The name is what stands between the first `(` and the last `)`: it may hold parentheses, blanks and newlines.
  package init?(_ text: Span<UInt8>) {
    var open = 0
    guard text.skipPast(0x28, at: &open) else { return nil }
    var close = text.count - 1
    while close >= open, text[close] != 0x29 { close -= 1 }
    guard close >= open, close + 2 < text.count else { return nil }
    name = open..<close
    state = text[close + 2]
    var position = close + 3
    // Fields are numbered as in the manual page; the state is field 3.
    var fields = InlineArray<40, UInt64>(repeating: 0)
    for number in 4..<40 {
      text.skipBlanks(at: &position)
      let isNegative = position < text.count && text[position] == 0x2D
      if isNegative { position += 1 }
      guard let value = text.decimal(at: &position) else { return nil }
      fields[number] = isNegative ? 0 &- value : value
    }
    parent = Int32(truncatingIfNeeded: fields[4])
    processGroup = Int32(truncatingIfNeeded: fields[5])
    session = Int32(truncatingIfNeeded: fields[6])
    terminal = fields[7]
    foregroundGroup = Int32(truncatingIfNeeded: fields[8])
    flags = fields[9]
    majorFaults = fields[12]
    userTicks = fields[14]
    systemTicks = fields[15]
    threads = Int(truncatingIfNeeded: fields[20])
    startTicks = fields[22]
    image = ImageMark(codeStart: fields[26], codeEnd: fields[27], stackStart: fields[28])
    processor = Int32(truncatingIfNeeded: fields[39])
  }
}

/// Tells one program image from the next one in the same process: exec keeps id and start time.
package struct ImageMark: Sendable, Hashable {
  package var codeStart: UInt64
  package var codeEnd: UInt64
  package var stackStart: UInt64

  /// A process on its way out has no image any more.
  package var isThere: Bool { stackStart != 0 }

  package init(codeStart: UInt64, codeEnd: UInt64, stackStart: UInt64) {
    self.codeStart = codeStart
    self.codeEnd = codeEnd
    self.stackStart = stackStart
  }
}
