// What writer and reader of a recording remember of a thread: its last look, and the calls it was lately blocked in.

internal import StallCore

struct LookMemory: Sendable {
  private(set) var last = ThreadObservation(
    at: Instant(nanoseconds: 0), state: .running, activity: .running, cpuTime: .zero, runQueueDelay: .zero,
    timesScheduled: 0, voluntarySwitches: 0)
  var calls = RecentCalls()
  /// The last one of its surroundings.
  var reading = SurroundingsReading.none
  private var distance: Int64 = 0

  /// When the next look comes if it comes after the same time as the last one.
  var expected: Int64 { last.at.microseconds + distance }

  mutating func remember(_ look: ThreadObservation) {
    distance = look.at.microseconds - last.at.microseconds
    last = look
  }
}

/// The last calls, each with its place in a ring: a thread comes back to few.
struct RecentCalls: Sendable {
  static let capacity = 16

  private var calls = InlineArray<16, BlockedCall>(repeating: RecentCalls.none)
  private var next = 0

  private static let none = BlockedCall(
    number: 0, arguments: InlineArguments(), stackPointer: 0, programCounter: 0)

  subscript(slot: Int) -> BlockedCall { calls[slot & (Self.capacity - 1)] }

  func slot(of call: BlockedCall) -> Int? { (0..<Self.capacity).first { calls[$0] == call } }

  /// The same call from the same place with other arguments.
  func slot(like call: BlockedCall) -> Int? {
    (0..<Self.capacity).first {
      calls[$0].number == call.number && calls[$0].stackPointer == call.stackPointer
        && calls[$0].programCounter == call.programCounter
    }
  }

  mutating func add(_ call: BlockedCall) {
    calls[next] = call
    next = (next + 1) % Self.capacity
  }

  mutating func replace(_ slot: Int, with call: BlockedCall) { calls[slot & (Self.capacity - 1)] = call }
}

extension InlineArguments {
  static let count = 6

  subscript(index: Int) -> UInt64 {
    get {
      switch index {
      case 0: first
      case 1: second
      case 2: third
      case 3: fourth
      case 4: fifth
      default: sixth
      }
    }
    set {
      switch index {
      case 0: first = newValue
      case 1: second = newValue
      case 2: third = newValue
      case 3: fourth = newValue
      case 4: fifth = newValue
      default: sixth = newValue
      }
    }
  }
}
