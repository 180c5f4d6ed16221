// What the report thread and its analyst say to each other. Files travel beside the messages.

package import Linux
internal import Stacks
internal import StallCore

/// How much is to be found out about a stack, from little to much.
package enum AnalysisDepth: Int, Sendable, Comparable, CaseIterable {
  /// Addresses, modules and offsets.
  case addresses
  /// Names from symbol tables.
  case names
  /// Also source lines and inlined calls.
  case lines

  package static func < (one: AnalysisDepth, other: AnalysisDepth) -> Bool { one.rawValue < other.rawValue }
}

/// From the report thread to the analyst.
enum AnalystOrder {
  /// The list of mappings, beside it, belongs to the questions that follow.
  case mappings
  /// Copied threads; their stack bytes are beside it, in one file. What follows is for `StackQuestion(decoding:stack:)`,
  /// once for each. A sample, which comes alone, belongs to a series, of which stacks with the same functions are told once;
  /// 0: it is none.
  case questions(count: Int, maxFrames: Int, depth: AnalysisDepth, series: UInt64, MessageReader)
  /// The file that was asked for, beside it, or none.
  case file
  /// Where a variable is, of this name.
  case variable(id: UInt64, name: [UInt8])

  /// What has room in a message of `AnalystSocket`.
  static let mostQuestions = CaptureHelper.mostTogether

  static func questions(
    _ questions: [(id: UInt64, capture: RawCapture)], maxFrames: Int, depth: AnalysisDepth, series: UInt64 = 0
  ) -> [UInt8] {
    var writer = MessageWriter()
    writer.append(UInt64(1))
    writer.append(questions.count)
    writer.append(maxFrames)
    writer.append(depth.rawValue)
    writer.append(series)
    for (id, capture) in questions {
      writer.append(id)
      capture.encode(into: &writer)
    }
    return writer.bytes
  }

  static func variable(id: UInt64, _ name: HeartbeatName) -> [UInt8] {
    var writer = MessageWriter()
    writer.append(UInt64(3))
    writer.append(id)
    writer.append(name.text.bytes)
    return writer.bytes
  }

  static let mappingsMessage = message(0)
  static let fileMessage = message(2)

  private static func message(_ kind: UInt64) -> [UInt8] {
    var writer = MessageWriter()
    writer.append(kind)
    return writer.bytes
  }

  init(decoding bytes: [UInt8]) throws(MessageReader.Malformed) {
    var reader = MessageReader(bytes)
    switch try reader.word() {
    case 0: self = .mappings
    case 1:
      let count = try reader.integer(in: 1...Self.mostQuestions)
      let maxFrames = try reader.integer(in: 1...1_000_000)
      let depth = AnalysisDepth(rawValue: try reader.integer(in: 0...AnalysisDepth.allCases.count - 1))
      let series = try reader.word()
      self = .questions(
        count: count, maxFrames: maxFrames, depth: depth ?? .addresses, series: series, reader)
    case 2: self = .file
    case 3: self = .variable(id: try reader.word(), name: try reader.string())
    default: throw MessageReader.Malformed()
    }
  }
}

/// One of the threads that the analyst is asked about.
struct StackQuestion {
  let id: UInt64
  let snapshot: ThreadSnapshot

  init(decoding reader: inout MessageReader, stack: SharedFile?) throws(MessageReader.Malformed) {
    id = try reader.word()
    snapshot = try ThreadSnapshot(decoding: &reader, stack: stack)
  }
}

/// From the analyst to the report thread. It may be in the hands of whoever wrote the target's files by now: what it
/// asks for is checked, and what it says is only shown.
package enum AnalystMessage {
  /// It has started. The number of limits that it could not put on itself.
  case hello(missingLimits: Int)
  /// How far the analysis has come, of one question or of several with the same answer. What is said comes beside it where
  /// it is long.
  case answer(ids: [UInt64], isFinal: Bool, content: [UInt8])
  /// Last answers, as many as have room.
  case answers([(ids: [UInt64], content: [UInt8])])
  /// The file behind a mapping, or if that cannot be opened a copy of it from memory.
  case wantsMapping(MemoryRegion)
  case wantsDebugFile(path: [UInt8])
  /// The list of functions that the program generated.
  case wantsPerfMap

  /// More goes into a file beside the message.
  static let mostInlineBytes = 32_768
  static let mostContentBytes = 32 << 20

  package var encoded: [UInt8] {
    var writer = MessageWriter()
    switch self {
    case .hello(let missing):
      writer.append(UInt64(0))
      writer.append(missing)
    case .answer(let ids, let isFinal, let content):
      writer.append(UInt64(1))
      writer.append(ids)
      writer.append(isFinal)
      writer.append(content)
    case .answers(let answers):
      writer.append(UInt64(5))
      writer.append(answers.count)
      for (ids, content) in answers {
        writer.append(ids)
        writer.append(content)
      }
    case .wantsMapping(let region):
      writer.append(UInt64(2))
      writer.append([region].encoded)
    case .wantsDebugFile(let path):
      writer.append(UInt64(3))
      writer.append(path)
    case .wantsPerfMap: writer.append(UInt64(4))
    }
    return writer.bytes
  }

  package init(decoding bytes: [UInt8]) throws(MessageReader.Malformed) {
    var reader = MessageReader(bytes)
    switch try reader.word() {
    case 0: self = .hello(missingLimits: try reader.integer(in: 0...16))
    case 1:
      self = .answer(ids: try reader.ids(), isFinal: try reader.flag(), content: try reader.string())
    case 2:
      guard let region = [MemoryRegion](decoding: try reader.string())?.first else {
        throw MessageReader.Malformed()
      }
      self = .wantsMapping(region)
    case 3: self = .wantsDebugFile(path: try reader.string())
    case 4: self = .wantsPerfMap
    case 5:
      self = .answers(
        try reader.list { (reader) throws(MessageReader.Malformed) in
          (ids: try reader.ids(), content: try reader.string())
        })
    default: throw MessageReader.Malformed()
    }
  }
}

extension MessageWriter {
  fileprivate mutating func append(_ ids: [UInt64]) {
    append(ids.count)
    for id in ids { append(id) }
  }
}

extension MessageReader {
  fileprivate mutating func ids() throws(Malformed) -> [UInt64] {
    try list { (reader) throws(Malformed) in try reader.word() }
  }
}
