// A process of our own that answers questions over a socket and can be replaced at any moment.

/// Starts the program again with a hidden argument, holds the only end of its socket, and starts another one after a
/// failure. What it was asked is nowhere kept: whoever asked asks again, or goes without.
package struct WorkerProcess: ~Copyable {
  /// Why there is no message. What to make of it is the caller's.
  package enum Trouble: Error {
    case cannotStart(Errno)
    /// It ended, or its end of the socket did.
    case died
    /// The moment came first.
    case late
  }

  /// The descriptor of the socket in the worker.
  package static let socketInChild: Int32 = 3

  private let executable: String
  private let arguments: [String]
  private let body: (() -> Never)?
  /// The process that answers now, if there is one.
  package private(set) var processID: Int32?
  private var socket: MessageSocket?
  /// Killed, but perhaps still in a kernel wait that even SIGKILL does not end.
  private var unreaped: [Int32] = []

  /// `body` is what the started program does with its arguments. Where it can be done by a copy of this process, no
  /// program has to be loaded: that takes 5 ms of CPU time, a copy half of one.
  package init(executable: String, arguments: [String], body: (() -> Never)? = nil) {
    self.executable = executable
    self.arguments = arguments
    self.body = body
  }

  deinit { if let processID { _ = ChildProcess.kill(processID) } }

  /// CPU time of the process that answers now.
  package var cpuTime: Duration {
    guard let processID, let used = try? Clock.processCPUNanoseconds(processID) else { return .zero }
    return .nanoseconds(used)
  }

  /// For poll(2); nil while there is no process.
  package var rawSocket: Int32? {
    switch socket {
    case .some(let socket): socket.descriptor.rawValue
    case .none: nil
    }
  }

  /// Starts the process if there is none; true if it did.
  package mutating func prepare() throws(Trouble) -> Bool {
    unreaped.removeAll { ChildProcess.reap($0) }
    if processID != nil { return false }
    do {
      let pair = try MessageSocket.makePair()
      processID = try start(pair.theirs.rawValue)
      socket = pair.takeOurs()
    } catch { throw .cannotStart(error) }
    return true
  }

  private func start(_ socket: Int32) throws(Errno) -> Int32 {
    if let body, let copy = try ChildProcess(copyWithSocket: socket, body: body) { return copy.release() }
    return try ChildProcess(
      path: executable, arguments: arguments, descriptors: [-1, -1, 2, socket], ownGroup: true
    ).release()
  }

  /// Sends one message, with at most one open file beside it (−1: none). Does not start a process.
  package mutating func send(_ bytes: [UInt8], descriptor: Int32 = -1) throws(Trouble) {
    do {
      guard let sent: Void = try socket?.send(bytes, descriptor: descriptor) else { throw Trouble.died }
      return sent
    } catch {
      discard()
      throw .died
    }
  }

  /// The next message; after a failure the process is gone.
  package mutating func receive(capacity: Int, until end: Int64) throws(Trouble) -> ReceivedMessage {
    do {
      guard try isReadable(until: end) else { throw Trouble.late }
      guard let message = try socket?.receive(capacity: capacity), !message.bytes.isEmpty else {
        throw Trouble.died
      }
      return message
    } catch {
      discard()
      throw error as? Trouble ?? .died
    }
  }

  /// Whether a message (or the end) is there at the moment or earlier.
  package func isReadable(until end: Int64) throws(Errno) -> Bool {
    try socket?.waitReadable(untilNanoseconds: end) ?? false
  }

  /// Ends the process without waiting for its end.
  package mutating func discard() {
    socket = nil
    if let processID, !ChildProcess.kill(processID) { unreaped.append(processID) }
    processID = nil
  }
}
