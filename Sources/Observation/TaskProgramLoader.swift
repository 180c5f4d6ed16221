// Has the iterator's program loaded by a process of its own, where the rights for that come from our file.

internal import Glibc
internal import Linux

/// Executed again, our program gets the rights of its file again. The loader uses them for loading alone, and takes nothing
/// from whoever started it but the id of a process: whom the loaded program tells of, it decides by itself
/// (`clinux_task_request`). Everything else is done with the rights of the caller.
package enum TaskProgramLoader {
  /// What makes the program a loader instead; the id follows.
  package static let hiddenArgument = "iterator-loader"
  /// It takes some 10 ms.
  private static let patience: Int64 = 5_000_000_000

  static func load(process: Int32) throws(Errno) -> LoadedTaskProgram {
    let sockets = try MessageSocket.makePair()
    let loader = try ChildProcess(
      path: "/proc/self/exe", arguments: [hiddenArgument, "\(process)"],
      descriptors: [-1, -1, 2, sockets.theirs.rawValue], ownGroup: true)
    defer { loader.signal(SIGKILL) }
    let socket = sockets.takeOurs()
    let end = Clock.monotonicNanoseconds &+ patience
    return LoadedTaskProgram(
      program: try receive(socket, until: end), answer: try receive(socket, until: end))
  }

  private static func receive(_ socket: borrowing MessageSocket, until end: Int64) throws(Errno) -> SharedFile
  {
    guard try socket.waitReadable(untilNanoseconds: end) else { throw .timedOut }
    let message = try socket.receive(capacity: 8)
    var reader = MessageReader(message.bytes)
    let error = (try? reader.number()).map { Errno(Int32(truncatingIfNeeded: $0)) }
    guard let file = message.takeFile() else { throw error ?? .noChildProcess }
    return file
  }

  /// The whole life of the process.
  package static func run(process: String) -> Never {
    OwnProcess.becomeWorker(named: "stallwatch-load")
    let socket = MessageSocket(owning: FileDescriptor(owning: WorkerProcess.socketInChild))
    var answer = MessageWriter()
    // Fails when whoever asked has gone, and then nobody is left to tell.
    do throws(Errno) {
      guard let process = Int32(process) else { throw .invalidArgument }
      let loaded = try TaskProgram.load(process: process)
      answer.append(0)
      for file in [loaded.program, loaded.answer] {
        try? socket.send(answer.bytes, descriptor: file.rawDescriptor)
      }
    } catch {
      answer.append(Int(error.code))
      try? socket.send(answer.bytes)
    }
    OwnProcess.endAtOnce()
  }
}
