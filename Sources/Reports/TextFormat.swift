// Text for people: a sentence first, evidence after.

package struct TextFormat: ReportFormat {
  private let style: TextStyle
  private let localTime: @Sendable (Int64) -> CivilTime
  private var day: String?
  private var told = ToldEpisode()
  /// Hints about runtimes; once is enough.
  private var hinted: Set<String> = []
  private var judgesStalls = true
  private var folded = FoldedThreads()

  /// - Parameter localTime: seconds since 1970 to the local date and time.
  package init(
    style: TextStyle, localTime: @escaping @Sendable (Int64) -> CivilTime = { CivilTime(local: $0) }
  ) {
    self.style = style
    self.localTime = localTime
  }

  package mutating func render(_ record: Record) -> [UInt8] {
    let lines = linesNow(of: record)
    if lines.isEmpty { return [] }
    let isFirst = day == nil
    let text = dateLine(at: record.moment) + (isFirst ? Array(lines.drop(while: \.isEmpty)) : lines)
    return Array((text.joined(separator: "\n") + "\n").utf8)
  }

  /// The threads of a dump are told when something else comes; one by one where each has evidence of its own.
  private mutating func linesNow(of record: Record) -> [String] {
    if case .dump(let fields) = record.body, style.detail != .everything { return fold(fields) }
    let held = folded.take(style)
    let lines = lines(of: record)
    return held + lines + (lines.isEmpty ? [] : newHints(record.body.stacks))
  }

  private mutating func fold(_ record: ThreadDumpRecord) -> [String] {
    if folded.add(record) { return [] }
    let held = folded.isFull ? folded.take(style) : []
    folded.begin(with: record, record.stacks.flatMap { $0.lines(style) } + newHints(record.stacks))
    return held
  }

  private mutating func newHints(_ stacks: [StackRecord]) -> [String] {
    guard style.detail == .normal else { return [] }
    return stacks.flatMap(\.hints).filter { hinted.insert($0).inserted }.map { "  \($0)" }
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
