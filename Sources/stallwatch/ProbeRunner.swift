// The thread that asks the program from outside, again and again, one question at a time.

internal import Linux
internal import Recordings
internal import Reports
internal import StallCore
internal import Synchronization

/// What the asking thread knows, for the watch thread to take at its looks.
final class ProbeMailbox: Sendable {
  private struct State {
    var log = ProbeLog()
    /// With `--record`, since they were last taken.
    var unrecorded: [ProbeEvent] = []
  }

  private let isRecorded: Bool
  private let state = Mutex(State())

  /// Of a watch that does not look.
  private static let mostUnrecorded = 1_000

  init(isRecorded: Bool) { self.isRecorded = isRecorded }

  var log: ProbeLog { state.withLock { $0.log } }

  func note(_ kind: ProbeEvent.Kind) {
    let event = ProbeEvent(kind, at: isRecorded ? Instant.now.cut : .now)
    state.withLock { state in
      state.log.take(event)
      if isRecorded, state.unrecorded.count < Self.mostUnrecorded { state.unrecorded.append(event) }
    }
  }

  /// What is known by now, and what has happened since the last call.
  func take() -> (log: ProbeLog, events: [ProbeEvent]) {
    state.withLock { state in
      defer { state.unrecorded = [] }
      return (state.log, state.unrecorded)
    }
  }

  /// The same for a look.
  func takeFacts() -> (facts: ProbeFacts, events: [ProbeEvent]) {
    state.withLock { state in
      defer { state.unrecorded = [] }
      return (state.log.facts, state.unrecorded)
    }
  }
}

struct ProbeRunner: Sendable {
  let address: ProbeAddress
  let distance: Duration
  let mailbox: ProbeMailbox
  let tell: @Sendable (NoticeRecord) -> Void

  /// Closer questions would be load; what is asked twice a threshold shows a stall of that length at least once.
  static let shortestDistance: Duration = .milliseconds(100)
  /// Nobody who answers at all takes longer.
  private static let patience: Duration = .seconds(30)
  /// Until something is said of a program that has never answered.
  private static let attemptsBeforeNotice = 3
  /// Of an answer: who writes more is left alone then.
  private static let mostBytes = 1 << 20
  private static let timeToRead: Duration = .seconds(2)

  init(
    _ address: ProbeAddress, threshold: Duration, _ mailbox: ProbeMailbox,
    tell: @escaping @Sendable (NoticeRecord) -> Void
  ) {
    self.address = address
    distance = max(threshold / 2, Self.shortestDistance)
    self.mailbox = mailbox
    self.tell = tell
  }

  /// Never returns.
  func run() {
    var buffer = [UInt8](repeating: 0, count: 16_384)
    var hasTold = false
    while true {
      let began = Instant.now
      let failure = ask(&buffer)
      if let failure {
        mailbox.note(.failed)
        let log = mailbox.log
        if !hasTold, log.answers == 0, failure.isFinal || log.failures >= Self.attemptsBeforeNotice {
          hasTold = true
          tell(NoticeRecord(.probeFailed, failure.sentence(address)))
        }
      }
      let rest = began + distance - .now
      if rest > .zero { Clock.pause(nanoseconds: Int(min(rest, .milliseconds(999)).nanoseconds)) }
    }
  }

  private enum Failure: Error {
    case cannotConnect(Errno)
    case noConnection
    case brokenOff(Errno)
    case closed
    case noAnswer
    case notHTTP

    /// Asking again will not help.
    var isFinal: Bool {
      switch self {
      case .noAnswer, .notHTTP: true
      default: false
      }
    }

    func sentence(_ address: ProbeAddress) -> String {
      let next = "; watching goes on without it. Next: check the address with "
      let tool = address.request == nil ? "`ss -l`" : "`curl \(address.text)`"
      let what: String =
        switch self {
        case .cannotConnect(let error): "the probe \(address.text) cannot connect: \(error.text)"
        case .noConnection: "the probe \(address.text) gets no connection"
        case .brokenOff(let error): "the probe \(address.text) is broken off: \(error.text)"
        case .closed: "the probe \(address.text) is closed without an answer"
        case .noAnswer where address.request == nil:
          "nobody greets or closes on \(address.text), so that its connections show nothing of the loop"
        case .noAnswer: "the probe \(address.text) is never answered"
        case .notHTTP: "what answers on \(address.text) does not speak HTTP/1"
        }
      return what + next + tool
    }
  }

  /// Nil: it was answered.
  private func ask(_ buffer: inout [UInt8]) -> Failure? {
    do throws(Failure) {
      let connection = try connect()
      mailbox.note(.sent)
      if let request = address.request {
        try converse(connection, request, &buffer)
      } else {
        connection.finishSending()
        _ = try receive(connection, &buffer, until: .now + Self.patience)
        mailbox.note(.answered)
      }
      return nil
    } catch { return error }
  }

  /// Numbers of one name are tried in turn.
  private func connect() throws(Failure) -> StreamConnection {
    do throws(Errno) {
      switch address.endpoint {
      case .path(let path): return try connected(try StreamConnection(path: path))
      case .hosts(let hosts, let port):
        for host in hosts.dropLast() {
          if let connection = try? connected(try StreamConnection(address: host, port: port)) {
            return connection
          }
        }
        return try connected(try StreamConnection(address: hosts.last ?? "", port: port))
      }
    } catch { throw error == .timedOut ? .noConnection : .cannotConnect(error) }
  }

  private func connected(_ connection: consuming StreamConnection) throws(Errno) -> StreamConnection {
    guard try connection.waitUntilConnected(for: Self.patience.nanoseconds) else { throw .timedOut }
    return connection
  }

  /// The status line is the answer. The rest is read too: who writes to a connection that was closed gets a signal that not
  /// everybody expects.
  private func converse(
    _ connection: borrowing StreamConnection, _ request: String, _ buffer: inout [UInt8]
  ) throws(Failure) {
    let text =
      "GET \(request) HTTP/1.1\r\nHost: \(hostField)\r\nConnection: close\r\nUser-Agent: stallwatch\r\n\r\n"
    do { try connection.send(Array(text.utf8)) } catch { throw .brokenOff(error) }
    let count = try receive(connection, &buffer, until: .now + Self.patience)
    if count == 0 { throw .closed }
    guard buffer[..<count].starts(with: "HTTP/1.".utf8.prefix(count)) else { throw .notHTTP }
    mailbox.note(.answered)
    var total = count
    let end = Instant.now + Self.timeToRead
    while total < Self.mostBytes, let more = try? receive(connection, &buffer, until: end), more > 0 {
      total += more
    }
  }

  private var hostField: String {
    switch address.endpoint {
    case .path: "localhost"
    case .hosts(let hosts, let port): "\(hosts.first.map { $0.contains(":") ? "[\($0)]" : $0 } ?? ""):\(port)"
    }
  }

  private func receive(
    _ connection: borrowing StreamConnection, _ buffer: inout [UInt8], until end: Instant
  ) throws(Failure) -> Int {
    let count: Int?
    do { count = try connection.receive(into: &buffer, for: (end - .now).nanoseconds) } catch {
      throw .brokenOff(error)
    }
    guard let count else { throw .noAnswer }
    return count
  }
}
