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

  private static let kinds: [WaitKind] = [
    .epoll, .poll, .ring, .accept, .input, .message, .children, .signal, .futex, .sleep, .other, .unseen,
    .mainQueue,
  ]

  static func of(_ wait: WaitKind?) -> UInt8 { kind | (wait?.number ?? 0) }

  /// Nil: no such number.
  static func blockedByKind(_ code: UInt8) -> Activity? {
    if code == kind { return .blockedByKind(nil) }
    return kinds.first { of($0) == code }.map { .blockedByKind($0) }
  }
}

extension WaitKind {
  /// 0 is none in which a loop would idle.
  fileprivate var number: UInt8 {
    switch self {
    case .epoll: 1
    case .poll: 2
    case .ring: 3
    case .accept: 4
    case .input: 5
    case .message: 6
    case .children: 7
    case .signal: 8
    case .futex: 9
    case .sleep: 10
    case .other: 11
    case .unseen: 12
    case .mainQueue: 13
    }
  }
}

extension PassSource {
  private static let numbered: [PassSource] = [.breakpoint, .heartbeat, .ping, .probe]

  var code: UInt8 {
    switch self {
    case .breakpoint: 1
    case .heartbeat: 2
    case .ping: 3
    case .probe: 4
    }
  }

  init?(code: UInt8) {
    guard let source = Self.numbered.first(where: { $0.code == code }) else { return nil }
    self = source
  }
}
