// A record: what every one carries, and the kinds there are. The input of every report format.

package import StallCore

/// The watch that records come from.
package struct RecordOrigin: Hashable, Sendable {
  /// The same in all records of one watch, different for every watch.
  package var watchID: String
  package var host: ByteString
  /// The process that is watched.
  package var processID: Int32

  package init(watchID: String, host: ByteString, processID: Int32) {
    self.watchID = watchID
    self.host = host
    self.processID = processID
  }
}

/// One statement of a watch.
package struct Record: Sendable {
  package static let schema = "stallwatch/1"

  package let origin: RecordOrigin
  /// Counts from 1 within a watch, without gaps.
  package let sequence: Int
  package let moment: Moment
  package let body: RecordBody

  package init(origin: RecordOrigin, sequence: Int, moment: Moment, body: RecordBody) {
    self.origin = origin
    self.sequence = sequence
    self.moment = moment
    self.body = body
  }
}

package enum RecordBody: Sendable {
  case attach(AttachRecord)
  case stall(StallRecord)
  /// Perhaps a stall, perhaps not: the thread slept where no look saw it. Never counted as one.
  case unverified(StallRecord)
  case saturation(SaturationRecord)
  case cpu(BusyThreadRecord)
  case notice(NoticeRecord)
  case exit(ExitRecord)
  case dump(ThreadDumpRecord)
  case dumpSummary(DumpSummaryRecord)
  case summary(SummaryRecord)

  var stacks: [StackRecord] {
    switch self {
    case .stall(let record), .unverified(let record): record.stacks
    case .saturation(let record): record.stacks
    case .cpu(let record): record.stacks
    case .dump(let record): record.stacks
    case .attach, .notice, .exit, .dumpSummary, .summary: []
    }
  }

  /// The word in the field `type`, and what to encode beside it.
  fileprivate var named: (type: String, fields: any Encodable) {
    switch self {
    case .attach(let fields): ("attach", fields)
    case .stall(let fields): ("stall", fields)
    case .unverified(let fields): ("unverified", fields)
    case .saturation(let fields): ("saturation", fields)
    case .cpu(let fields): ("cpu", fields)
    case .notice(let fields): ("notice", fields)
    case .exit(let fields): ("exit", fields)
    case .dump(let fields): ("dump", fields)
    case .dumpSummary(let fields): ("dump_summary", fields)
    case .summary(let fields): ("summary", fields)
    }
  }
}

/// Numbers the records of a watch.
package struct RecordSeries: Sendable {
  package let origin: RecordOrigin
  private var lastSequence = 0

  package init(origin: RecordOrigin) { self.origin = origin }

  package mutating func record(_ body: RecordBody, at moment: Moment) -> Record {
    lastSequence += 1
    return Record(origin: origin, sequence: lastSequence, moment: moment, body: body)
  }
}

extension Record: Encodable {
  private enum CodingKeys: String, CodingKey {
    case schema, type
    case watchID = "watch_id"
    case host
    case hostBytes = "host_bytes"
    case sequence = "seq"
    case time
    case monotonic = "monotonic_us"
    case processID = "pid"
  }

  /// The common fields and those of the body stand side by side in one object.
  package func encode(to encoder: any Encoder) throws {
    let (type, fields) = body.named
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(Record.schema, forKey: .schema)
    try container.encode(type, forKey: .type)
    try container.encode(origin.watchID, forKey: .watchID)
    try container.encode(EscapedText(origin.host), forKey: .host)
    try container.encodeIfPresent(ExactBytes(origin.host), forKey: .hostBytes)
    try container.encode(sequence, forKey: .sequence)
    try container.encode(moment.wall, forKey: .time)
    try container.encode(moment.monotonic.nanoseconds / 1_000, forKey: .monotonic)
    try container.encode(origin.processID, forKey: .processID)
    try fields.encode(to: encoder)
  }
}
