// Threads and stacks as text.

internal import StallCore

/// More frames than this are cut in the middle: the top says what it does, the bottom where it came from.
private let framesShown = 24
private let framesShownAtBottom = 7

/// A longer name pushes the module aside instead of moving all the others.
private let widestNameColumn = 44

extension ThreadRecord {
  var spoken: String {
    switch role {
    case .main: "main thread"
    case .worker: "thread \(threadID) \"\(name.text)\""
    case .mainQueue where name.text.isEmpty: "the main queue"
    case .mainQueue: "main queue, on thread \(threadID) \"\(name.text)\""
    case .loop: "loop thread \(threadID) \"\(name.text)\""
    case .lockOwner: "lock owner, thread \(threadID) \"\(name.text)\""
    }
  }
}

extension StackRecord {
  func lines(_ style: TextStyle) -> [String] {
    var lines = style.detail == .everything ? capture.map { ["  \($0)"] } ?? [] : []
    if isApproximate { lines.append("  approximate: some registers could not be had") }
    if frames.isEmpty {
      return lines + ["  no stack: \(missing?.text ?? "nothing could be copied")"] + kernelLines
    }
    if style.detail == .everything { lines += kernelLines }
    lines += frameLines(style)
    if let gap = gap { lines.append(style.palette.faint("     … \(gap)")) }
    if isCompleted { lines.append("  its outer frames were copied a moment later") }
    if let missing { lines.append("  \(missing.text)") }
    return lines
  }

  private var kernelLines: [String] {
    kernelFrames.isEmpty
      ? [] : ["  in the kernel: " + kernelFrames.map(\.symbol.text).joined(separator: " ← ")]
  }

  private func frameLines(_ style: TextStyle) -> [String] {
    let rows = rows(style)
    let isCut = rows.count > framesShown && style.detail != .everything
    let hidden =
      isCut ? (framesShown - framesShownAtBottom - 1)..<(rows.count - framesShownAtBottom) : 0..<0
    let parts = rows.map { frames[$0.lowerBound].parts(style) }
    let columns = FrameColumns(zip(rows, parts).filter { !isFolded($0.0) }.map { $0.1 }, style)
    var lines: [String] = []
    for (index, row) in rows.enumerated() where !hidden.contains(index) {
      if index == hidden.upperBound, isCut {
        let count = rows[hidden].map(\.count).reduce(0, +)
        lines.append(style.palette.faint("     … \(count) frames (-v shows them)"))
      }
      if isFolded(row), style.detail != .everything {
        let frames = "\(row.count) frame\(row.count == 1 ? "" : "s")"
        lines.append(paddedLeft("\(row.lowerBound)", to: 4) + " [JIT code, anonymous memory, \(frames)]")
      } else {
        lines.append(parts[index].line(row.lowerBound, columns, style))
      }
    }
    return lines
  }

  /// What stands in one line: a frame, or a run of frames of which nothing is known but that they are generated code.
  private func rows(_ style: TextStyle) -> [Range<Int>] {
    var rows: [Range<Int>] = []
    for index in frames.indices {
      if style.detail != .everything, let last = rows.last, isFolded(last), frames[index].isNamelessCode {
        rows[rows.count - 1] = last.lowerBound..<(index + 1)
      } else {
        rows.append(index..<(index + 1))
      }
    }
    return rows
  }

  private func isFolded(_ row: Range<Int>) -> Bool { frames[row.lowerBound].isNamelessCode }

  /// Why the stack ends above its root; nil if it does not.
  private var gap: String? {
    switch end {
    case .root: nil
    case .limit: "and more: --max-frames was reached"
    case .missingBytes: "the rest of the stack was not copied"
    case .noRule:
      "nothing\(frames.last?.moduleName.map { " in \($0.text)" } ?? "") says how to go on from here"
    case .loop: "the stack runs in a circle"
    case .notCaptured: "nothing could be copied"
    }
  }

  private var capture: String? {
    captured.map {
      "stack by \($0.rawValue)" + (stopped > .zero ? ", held still for \(stopped.spoken)" : ", not stopped")
    }
  }
}

extension FrameRecord {
  var isNamelessCode: Bool { isGenerated == true && symbol == nil && module == nil }

  /// The symbol, or where the address lies if it has none.
  var name: String {
    if let symbol { return symbol.text }
    guard let moduleName else { return programCounter.text }
    return offset.map { "\(moduleName.text)+\($0.text)" } ?? "\(programCounter.text) in \(moduleName.text)"
  }

  fileprivate func parts(_ style: TextStyle) -> FrameParts {
    var remarks: [String] = []
    if let file {
      let name = style.detail == .everything ? file.text[...] : file.text.lastComponent
      remarks.append(name + (line.map { ":\($0)" } ?? ""))
    }
    if isModuleDeleted == true { remarks.append("(deleted)") }
    if isInlined { remarks.append("(inlined)") }
    if isSignalFrame { remarks.append("(signal handler's return)") }
    switch trust {
    case .exact: break
    case .framePointer: if style.detail == .everything { remarks.append("(by frame pointer)") }
    case .scanned, .symbolGuess: remarks.append("(a guess)")
    }
    if style.detail == .everything { remarks.append(programCounter.text) }
    let module = symbol == nil ? "" : moduleName?.text ?? ""
    return FrameParts(name: name, module: module, remarks: remarks.joined(separator: "  "))
  }
}

extension String {
  fileprivate var lastComponent: Substring {
    self[(utf8.lastIndex(of: UInt8(ascii: "/")).map(utf8.index(after:)) ?? startIndex)...]
  }
}

/// What stands in the columns of one frame.
private struct FrameParts {
  let name: String
  let module: String
  let remarks: String

  /// `   2 Report::load                     viewer        report.cpp:86`
  func line(_ index: Int, _ columns: FrameColumns, _ style: TextStyle) -> String {
    let start = paddedLeft("\(index)", to: 4) + " " + columns.cut(name)
    if module.isEmpty, remarks.isEmpty { return start }
    let rest = remarks.isEmpty ? module : padded(module, to: columns.module) + "  " + remarks
    return padded(start, to: columns.name + 5) + "  " + style.palette.faint(rest)
  }
}

/// How wide the columns of one stack are.
private struct FrameColumns {
  let module: Int
  let name: Int
  /// Names are cut to this; nil: they are not cut.
  private let longestName: Int?

  init(_ frames: [FrameParts], _ style: TextStyle) {
    let module = frames.map(\.module.count).max() ?? 0
    longestName = style.width.map { width in
      let rest =
        frames.map { $0.remarks.isEmpty ? $0.module.count : module + 2 + $0.remarks.count }.max() ?? 0
      return max(12, width - rest - 7)
    }
    name = min(frames.map(\.name.count).max() ?? 0, widestNameColumn, longestName ?? widestNameColumn)
    self.module = module
  }

  func cut(_ text: String) -> String {
    guard let longestName, text.count > longestName else { return text }
    return text.prefix(longestName - 1) + "…"
  }
}
