// Text for people: a sentence first, evidence after.

package struct TextFormat: ReportFormat {
  private let style: TextStyle
  private let localTime: @Sendable (Int64) -> CivilTime
  private var day: String?
  private var told = ToldEpisode()
  /// Hints about runtimes; once is enough.
  private var hinted: Set<String> = []
  private var judgesStalls = true

  /// - Parameter localTime: seconds since 1970 to the local date and time.
  package init(
    style: TextStyle, localTime: @escaping @Sendable (Int64) -> CivilTime = { CivilTime(local: $0) }
  ) {
    self.style = style
    self.localTime = localTime
  }

  package mutating func render(_ record: Record) -> [UInt8] {
    var lines = lines(of: record)
    if lines.isEmpty { return [] }
    if style.detail == .normal {
      for hint in record.body.stacks.flatMap(\.hints) where hinted.insert(hint).inserted {
        lines.append("  \(hint)")
      }
    }
    let isFirst = day == nil
    let text = dateLine(at: record.moment) + (isFirst ? Array(lines.drop(while: \.isEmpty)) : lines)
    return Array((text.joined(separator: "\n") + "\n").utf8)
  }

  private mutating func lines(of record: Record) -> [String] {
    switch record.body {
    case .attach(let fields):
      judgesStalls = fields.observer.judgesStalls
      return style.detail == .reportsOnly ? [] : fields.lines(processID: record.origin.processID, style)
    case .stall(let fields):
      return fields.lines(after: &told, clock: clock(record.moment), style)
    case .unverified(let fields):
      return style.detail == .everything ? fields.unverifiedLines(clock: clock(record.moment), style) : []
    case .saturation(let fields):
      return fields.lines(after: &told, clock: clock(record.moment), style)
    case .cpu(let fields):
      return fields.lines(clock: clock(record.moment), style)
    case .notice(let fields):
      return style.detail == .reportsOnly ? [] : ["\(clock(record.moment))  \(fields.text.text)"]
    case .exit(let fields):
      return ["\(clock(record.moment))  \(fields.end.sentence)"] + fields.survivorLines
    case .dump(let fields):
      return fields.lines(style)
    case .dumpSummary(let fields):
      return fields.lines
    case .summary(let fields):
      return fields.lines(style, judgesStalls: judgesStalls)
    }
  }

  /// `14:03:07.412`
  private func clock(_ moment: Moment) -> String {
    let time = localTime(moment.wall.seconds)
    return style.palette.faint("\(time.clock).\(digits(moment.wall.microsecondsOfSecond / 1_000, 3))")
  }

  /// The date, if it is another one than that of the text before; none before the first text.
  private mutating func dateLine(at moment: Moment) -> [String] {
    let today = localTime(moment.wall.seconds).date
    defer { day = today }
    return day == nil || day == today ? [] : [style.palette.strong(today)]
  }
}
