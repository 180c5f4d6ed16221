// What a descriptor of the target leads to, told from the text of its link in `/proc/PID/fd`.

package import StallCore

package struct DescriptorLink: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case pipe, socket, terminal, file, device, epoll, eventCounter, timer, signals, fileEvents, other
  }

  package var number: Int32
  package var text: ByteString
  package var kind: Kind

  /// The link is never followed: what it leads to may lie on a file system that does not answer. So a named pipe
  /// looks like a file; the wait channel tells it apart.
  package init(number: Int32, text: ByteString) {
    self.number = number
    self.text = text
    let bytes = text.bytes
    kind = Self.kinds.first { bytes.starts(with: $0.prefix.utf8) }?.kind ?? .other
  }

  /// The first that fits counts.
  private static let kinds: [(prefix: String, kind: Kind)] = [
    ("pipe:[", .pipe),
    ("socket:[", .socket),
    ("anon_inode:[eventpoll]", .epoll),
    ("anon_inode:[eventfd]", .eventCounter),
    ("anon_inode:[timerfd]", .timer),
    ("anon_inode:[signalfd]", .signals),
    ("anon_inode:inotify", .fileEvents),
    ("anon_inode:[fanotify]", .fileEvents),
    ("/dev/pts/", .terminal),
    ("/dev/tty", .terminal),
    ("/dev/console", .terminal),
    ("/dev/shm/", .file),
    ("/dev/", .device),
    ("/", .file),
  ]

  /// For a sentence: a path as it is, others by their kind.
  var description: String {
    switch kind {
    case .pipe: "a pipe"
    case .socket: "a socket"
    case .epoll: "an epoll descriptor"
    case .eventCounter: "an event counter"
    case .timer: "a timer"
    case .signals: "a signal descriptor"
    case .fileEvents: "file events"
    case .terminal, .file, .device, .other: text.escaped
    }
  }
}
