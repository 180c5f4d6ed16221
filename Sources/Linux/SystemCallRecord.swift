// `/proc/PID/task/TID/syscall`: what a thread is blocked in, proc_pid_syscall(5).

package enum SystemCallRecord: Sendable, Equatable {
  case running
  /// Blocked outside a system call (`-1`).
  case outsideCall(stackPointer: UInt64, programCounter: UInt64)
  case call(number: Int, arguments: InlineArray<6, UInt64>, stackPointer: UInt64, programCounter: UInt64)

  package init?(_ text: Span<UInt8>) {
    if text.matches("running", at: 0) {
      self = .running
      return
    }
    var position = 0
    let isOutside = text.matches("-1", at: 0)
    if isOutside { position = 1 }
    guard let number = text.decimal(at: &position), number < 1 << 31 else { return nil }
    var arguments = InlineArray<6, UInt64>(repeating: 0)
    if !isOutside {
      for index in 0..<6 {
        text.skipBlanks(at: &position)
        guard let value = text.hexadecimal(at: &position) else { return nil }
        arguments[index] = value
      }
    }
    text.skipBlanks(at: &position)
    guard let stackPointer = text.hexadecimal(at: &position) else { return nil }
    text.skipBlanks(at: &position)
    guard let programCounter = text.hexadecimal(at: &position) else { return nil }
    self =
      isOutside
      ? .outsideCall(stackPointer: stackPointer, programCounter: programCounter)
      : .call(
        number: Int(number), arguments: arguments, stackPointer: stackPointer, programCounter: programCounter)
  }

  package static func == (left: SystemCallRecord, right: SystemCallRecord) -> Bool {
    switch (left, right) {
    case (.running, .running): true
    case (.outsideCall(let a, let b), .outsideCall(let c, let d)): a == c && b == d
    case (.call(let n, let a, let s, let p), .call(let m, let b, let t, let q)):
      n == m && s == t && p == q && (0..<6).allSatisfy { a[$0] == b[$0] }
    default: false
    }
  }
}
