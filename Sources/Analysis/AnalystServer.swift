// The analyst: a process without rights that turns copies of threads into named stacks.

internal import Linux
internal import Stacks
internal import StallCore

/// Reads what others wrote (stacks, unwind tables, symbols, debug information) with libraries that can be brought to
/// abort or to run for minutes. Here that costs one answer.
package enum AnalystServer {
  package static let hiddenArgument = "analyst"
  /// For one question. Waiting for a file does not count.
  private static let mostCPUSeconds = 20

  /// The whole life of the process.
  package static func run() -> Never {
    OwnProcess.becomeWorker(named: "stallwatch-name")
    OwnProcess.beSilent()
    // Ours are read from `/proc`, which is out of reach in a moment.
    let vdso = OwnVDSO.bytes
    let failures = unsafe Sandbox.enter { unsafe AnalystSocket.open($0) }
    AnalystSocket.send(.hello(missingLimits: failures.count))
    let analysis = StackAnalysis(vdso: vdso)
    OwnProcess.releaseCodePages()
    serve(analysis)
  }

  private static func serve(_ analysis: StackAnalysis) -> Never {
    while true {
      let received = AnalystSocket.next()
      Sandbox.endAfterCPUTime(seconds: mostCPUSeconds)
      switch received.order {
      case .mappings: analysis.use(received.file)
      case .file: continue
      case .question(let id, let maxFrames, let depth, var reader):
        guard let snapshot = try? ThreadSnapshot(decoding: &reader, stack: received.file) else {
          OwnProcess.endAtOnce()
        }
        analysis.analyze(snapshot, maxFrames: maxFrames, depth: depth) {
          send($0.encoded, id, isFinal: $1)
        }
      case .variable(let id, let text):
        guard let name = HeartbeatName(ByteString(text)) else { OwnProcess.endAtOnce() }
        send(analysis.find(name).encoded, id, isFinal: true)
      }
    }
  }

  private static func send(_ content: [UInt8], _ id: UInt64, isFinal: Bool) {
    if content.count <= AnalystMessage.mostInlineBytes {
      AnalystSocket.send(.answer(id: id, isFinal: isFinal, content: content))
      return
    }
    let bytes = unsafe content.span.bytes
    let file = try? SealedBytes.copy(bytes)
    AnalystSocket.send(.answer(id: id, isFinal: isFinal, content: []), file: file?.rawDescriptor ?? -1)
  }
}
