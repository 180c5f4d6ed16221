// The analyst's end of the socket: what it is told, and the files that it has to ask for.

internal import Glibc
internal import Linux
internal import Synchronization

/// One socket for the whole process, since the C libraries that ask for files know nothing of ours.
enum AnalystSocket {
  struct Received {
    var order: AnalystOrder
    var file: SharedFile?
  }

  private static let socket = MessageSocket(
    owning: FileDescriptor(owning: WorkerProcess.socketInChild))
  /// What came while a file was waited for.
  private static let postponed = Mutex<[Received]>([])
  private static let mostMessageBytes = 16_384

  /// Waits for the next order that is no file.
  static func next() -> Received {
    if let first = postponed.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return first }
    return receive()
  }

  static func send(_ message: AnalystMessage, file: Int32 = -1) {
    do throws(Errno) { try socket.send(message.encoded, descriptor: file) } catch { OwnProcess.endAtOnce() }
  }

  /// Asks for a file and waits for it.
  static func request(_ message: AnalystMessage) -> SharedFile? {
    send(message)
    while true {
      let received = receive()
      if case .file = received.order { return received.file }
      postponed.withLock { $0.append(received) }
    }
  }

  /// What stands behind open(2) in this process: a descriptor, or a negative errno.
  static func open(_ path: UnsafePointer<CChar>?) -> Int32 {
    guard let path = unsafe path else { return -EFAULT }
    let bytes = unsafe UnsafeBufferPointer(start: path, count: strnlen(path, 4096)).map {
      UInt8(bitPattern: $0)
    }
    guard let file = request(.wantsDebugFile(path: bytes)),
      let copy = try? FileDescriptor.duplicate(file.rawDescriptor)
    else { return -ENOENT }
    return copy.release()
  }

  /// A socket that fails or says nonsense ends the process: whoever needs an analyst starts another one.
  private static func receive() -> Received {
    do {
      let message = try socket.receive(capacity: mostMessageBytes)
      guard !message.bytes.isEmpty else { OwnProcess.endAtOnce() }
      return Received(order: try AnalystOrder(decoding: message.bytes), file: message.takeFile())
    } catch { OwnProcess.endAtOnce() }
  }
}
