// The numbers for where a thread is, in a recording.

internal import StallCore

enum ActivityCode {
  static let running: UInt8 = 0
  static let unknown: UInt8 = 1
  static let outsideCall: UInt8 = 2
  static let newCall: UInt8 = 3
  /// And the call's place in the ring of recent ones.
  static let sameCall: UInt8 = 0x20
  static let otherArguments: UInt8 = 0x30
  /// And the number of the kind.
  private static let kind: UInt8 = 0x40

  /// In the order of their numbers, from 1; new ones come last. 0 is none in which a loop would idle.
  private static let kinds: [WaitKind] = [
    .epoll, .poll, .ring, .accept, .input, .message, .children, .signal, .futex, .sleep, .other, .unseen,
  ]

  static func of(_ wait: WaitKind?) -> UInt8 {
    guard let wait, let index = kinds.firstIndex(of: wait) else { return kind }
    return kind | UInt8(index + 1)
  }

  /// Nil: no such number.
  static func blockedByKind(_ code: UInt8) -> Activity? {
    let number = Int(code & 0x0F)
    guard code & 0xF0 == kind, number <= kinds.count else { return nil }
    return .blockedByKind(number == 0 ? nil : kinds[number - 1])
  }
}

extension PassSource {
  private static let numbered: [PassSource] = [.breakpoint, .heartbeat, .ping]

  /// From 1.
  var code: UInt8 { UInt8((Self.numbered.firstIndex(of: self) ?? 0) + 1) }

  init?(code: UInt8) {
    guard (1...Self.numbered.count).contains(Int(code)) else { return nil }
    self = Self.numbered[Int(code) - 1]
  }
}
