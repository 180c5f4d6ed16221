// What the kernel says of an eventfd, and of what an epoll watches: `fdinfo`, proc_pid_fdinfo(5).

/// An eventfd as another process has it open.
package struct EventCounter: Sendable, Equatable {
  package var count: UInt64
  /// The same in every process that has it open, and of no other eventfd that lives.
  package var id: UInt64
  /// Reading takes one instead of all; nil where the kernel does not tell (before Linux 6.5).
  package var isSemaphore: Bool?
  package var isNonBlocking: Bool

  /// Nil for any other kind of file.
  package init?(_ text: Span<UInt8>) {
    guard let count = Self.number(behind: "eventfd-count:", in: text, isHexadecimal: true),
      let id = Self.number(behind: "eventfd-id:", in: text)
    else { return nil }
    (self.count, self.id) = (count, id)
    isSemaphore = Self.number(behind: "eventfd-semaphore:", in: text).map { $0 != 0 }
    isNonBlocking = Self.hasFlag(0o4000, text)
  }

  package init?(process: Int32, descriptor: Int32) {
    guard let text = try? readPseudoFile("/proc/\(process)/fdinfo/\(descriptor)") else { return nil }
    self.init(text.span)
  }

  private static func number(
    behind key: StaticString, in text: Span<UInt8>, isHexadecimal: Bool = false
  ) -> UInt64? {
    guard var position = text.endOfKey(key, from: 0) else { return nil }
    text.skipBlanks(at: &position)
    return isHexadecimal ? text.hexadecimal(at: &position) : text.decimal(at: &position)
  }

  /// `flags:` is octal.
  private static func hasFlag(_ flag: UInt64, _ text: Span<UInt8>) -> Bool {
    guard var position = text.endOfKey("flags:", from: 0) else { return false }
    text.skipBlanks(at: &position)
    var flags: UInt64 = 0
    while position < text.count, 0x30...0x37 ~= text[position] {
      flags = flags << 3 | UInt64(text[position] - 0x30)
      position += 1
    }
    return flags & flag != 0
  }
}

/// One descriptor that an epoll watches, epoll_ctl(2).
package struct EpollEntry: Sendable, Equatable {
  package var descriptor: Int32
  package var events: UInt32
  package var data: UInt64

  /// It is not told again of what nobody has taken.
  package var isEdgeTriggered: Bool { events & 1 << 31 != 0 }

  /// `tfd:       18 events:       19 data:               12  pos:0 ino:…`; nil for a line that is none.
  package static func entries(_ text: Span<UInt8>, most: Int) -> [EpollEntry] {
    var entries: [EpollEntry] = []
    var start = 0
    while entries.count < most, var position = text.endOfKey("tfd:", from: start) {
      start = position
      text.skipBlanks(at: &position)
      guard let descriptor = text.decimal(at: &position).flatMap({ Int32(exactly: $0) }),
        let events = field("events:", in: text, at: &position).flatMap({ UInt32(exactly: $0) }),
        let data = field("data:", in: text, at: &position)
      else { continue }
      entries.append(EpollEntry(descriptor: descriptor, events: events, data: data))
    }
    return entries
  }

  private static func field(_ key: StaticString, in text: Span<UInt8>, at position: inout Int) -> UInt64? {
    text.skipBlanks(at: &position)
    guard text.matches(key, at: position) else { return nil }
    position += key.utf8CodeUnitCount
    text.skipBlanks(at: &position)
    return text.hexadecimal(at: &position)
  }
}
