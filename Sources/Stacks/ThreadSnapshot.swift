// The raw copy of one thread at one moment: registers and stack bytes, nothing interpreted.

internal import Linux
package import StallCore

/// User registers of an x86-64 thread, numbered as in the System V psABI, figure 3.36 (DWARF numbers):
/// 0 rax, 1 rdx, 2 rcx, 3 rbx, 4 rsi, 5 rdi, 6 rbp, 7 rsp, 8–15 r8–r15, 16 the return address (rip).
package struct Registers: Sendable {
  package static let count = 17
  package static let framePointer = 6
  package static let stackPointer = 7
  package static let programCounter = 16

  private var values = InlineArray<17, UInt64>(repeating: 0)
  /// A bit for each register.
  private(set) var known: UInt32 = 0

  package init() {}

  /// Nil where the register is not known: a way of capturing may see only some of them.
  package subscript(number: Int) -> UInt64? {
    get { known & (1 << UInt32(number)) == 0 ? nil : values[number] }
    set {
      values[number] = newValue ?? 0
      if newValue == nil { known &= ~(1 << UInt32(number)) } else { known |= 1 << UInt32(number) }
    }
  }

  package var programCounter: UInt64 { self[Registers.programCounter] ?? 0 }
  package var stackPointer: UInt64 { self[Registers.stackPointer] ?? 0 }
}

extension Registers: Hashable {
  package static func == (one: Registers, other: Registers) -> Bool {
    (0..<count).allSatisfy { one[$0] == other[$0] }
  }

  package func hash(into hasher: inout Hasher) {
    for number in 0..<Registers.count { hasher.combine(self[number]) }
  }
}

/// One thread, copied. Everything later (unwinding, naming, explaining) works on this alone.
package struct ThreadSnapshot: Sendable {
  package var threadID: Int32
  package var way: CaptureWay
  package var registers: Registers
  /// Address of the first byte of `stackBytes`: the stack pointer, or the red zone (128 bytes) below it.
  package var stackAddress: UInt64
  package var stackBytes: [UInt8]
  /// The other stack that a signal interrupted, and the rest of a deep stack.
  package var morePieces: [StackPiece] = []
  /// How long the thread was held still; zero for ways that do not stop it.
  package var stoppedFor: Duration
  package var takenAt: Instant

  package init(
    threadID: Int32, way: CaptureWay, registers: Registers, stackAddress: UInt64, stackBytes: [UInt8],
    stoppedFor: Duration, takenAt: Instant
  ) {
    self.threadID = threadID
    self.way = way
    self.registers = registers
    self.stackAddress = stackAddress
    self.stackBytes = stackBytes
    self.stoppedFor = stoppedFor
    self.takenAt = takenAt
  }

  /// The first piece is the one at the stack pointer.
  init(
    threadID: Int32, way: CaptureWay, registers: Registers, pieces: [StackPiece], stoppedFor: Duration,
    takenAt: Instant
  ) {
    self.init(
      threadID: threadID, way: way, registers: registers, stackAddress: pieces[0].address,
      stackBytes: pieces[0].bytes, stoppedFor: stoppedFor, takenAt: takenAt)
    morePieces = Array(pieces.dropFirst())
  }
}
