// Asks an analyst of its own where a variable is: for one question, then it is let go.

internal import Linux
package import Stacks
package import StallCore

/// Blocks whoever asks: for the start of a watch, and for threads of their own.
package struct HeartbeatFinder: ~Copyable {
  /// Large programs have hundreds of modules, and debug files besides.
  package static let usualPatience = Duration.seconds(30)
  private static let mostMessageBytes = AnalystMessage.mostInlineBytes + 4096

  private var worker: WorkerProcess
  private var broker: FileBroker

  package init(
    process: Int32, executable: String = "/proc/self/exe",
    arguments: [String] = [AnalystServer.hiddenArgument],
    fileHelper: consuming CaptureHelper = CaptureHelper()
  ) {
    worker = WorkerProcess(executable: executable, arguments: arguments)
    broker = FileBroker(process: process, helper: fileHelper)
  }

  /// Searches what is mapped now, as a thread of the process sees it.
  package mutating func find(
    _ name: HeartbeatName, of thread: Int32, patience: Duration = usualPatience
  ) -> HeartbeatFinding {
    guard let maps = broker.readMaps(of: thread) else {
      return .failed(why: "the list of its mappings could not be read")
    }
    let end = Clock.monotonicNanoseconds + patience.nanoseconds
    do throws(WorkerProcess.Trouble) {
      _ = try worker.prepare()
      try worker.send(AnalystOrder.mappingsMessage, descriptor: maps.rawDescriptor)
      try worker.send(AnalystOrder.variable(id: 1, name))
      while true {
        let message = try worker.receive(capacity: Self.mostMessageBytes, until: end)
        if let finding = try answer(message, maps) { return finding }
      }
    } catch {
      worker.discard()
      return .failed(why: error.clause)
    }
  }

  /// Nil: it goes on.
  private mutating func answer(
    _ message: borrowing ReceivedMessage, _ maps: SealedBytes
  ) throws(WorkerProcess.Trouble) -> HeartbeatFinding? {
    guard let meaning = try? AnalystMessage(decoding: message.bytes) else { throw .died }
    let file: SharedFile?
    switch meaning {
    case .hello, .answers: return nil
    case .answer(_, _, let content):
      guard let finding = try? HeartbeatFinding(decoding: content) else { throw .died }
      return finding
    case .wantsMapping(let region): file = broker.file(mappedAt: region, of: maps)
    case .wantsDebugFile(let path): file = broker.debugFile(path)
    case .wantsPerfMap: file = nil
    }
    try worker.send(AnalystOrder.fileMessage, descriptor: file?.rawDescriptor ?? -1)
    return nil
  }
}

extension WorkerProcess.Trouble {
  fileprivate var clause: String {
    switch self {
    case .cannotStart: "the process that reads symbol tables cannot be started"
    case .died: "the process that reads symbol tables ended"
    case .late: "the process that reads symbol tables took too long"
    }
  }
}
