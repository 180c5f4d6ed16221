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
      case .questions(let count, let maxFrames, let depth, let series, var reader):
        let questions = (0..<count).compactMap { _ in
          try? StackQuestion(decoding: &reader, stack: received.file)
        }
        guard questions.count == count else { OwnProcess.endAtOnce() }
        if series != 0, let question = questions.first {
          let found = analysis.analyze(question, ofSeries: series, maxFrames: maxFrames, depth: depth)
          send(found.encoded, [question.id], isFinal: true)
          continue
        }
        var last: [(ids: [UInt64], content: [UInt8])] = []
        analysis.analyze(questions, maxFrames: maxFrames, depth: depth) { ids, analysis, isFinal in
          if isFinal {
            last.append((ids, analysis.encoded))
          } else {
            send(analysis.encoded, ids, isFinal: false)
          }
        }
        send(last)
      case .variable(let id, let text):
        guard let name = HeartbeatName(ByteString(text)) else { OwnProcess.endAtOnce() }
        send(analysis.find(name).encoded, [id], isFinal: true)
      }
    }
  }

  /// As few messages as will do: each wakes whoever waits for them.
  private static func send(_ answers: [(ids: [UInt64], content: [UInt8])]) {
    var together: [(ids: [UInt64], content: [UInt8])] = []
    var bytes = 0
    for answer in answers {
      if answer.content.count > AnalystMessage.mostInlineBytes {
        send(answer.content, answer.ids, isFinal: true)
        continue
      }
      if bytes + answer.content.count > AnalystMessage.mostInlineBytes {
        AnalystSocket.send(.answers(together))
        (together, bytes) = ([], 0)
      }
      together.append(answer)
      bytes += answer.content.count
    }
    if !together.isEmpty { AnalystSocket.send(.answers(together)) }
  }

  private static func send(_ content: [UInt8], _ ids: [UInt64], isFinal: Bool) {
    if content.count <= AnalystMessage.mostInlineBytes {
      AnalystSocket.send(.answer(ids: ids, isFinal: isFinal, content: content))
      return
    }
    let bytes = unsafe content.span.bytes
    let file = try? SealedBytes.copy(bytes)
    AnalystSocket.send(.answer(ids: ids, isFinal: isFinal, content: []), file: file?.rawDescriptor ?? -1)
  }
}
